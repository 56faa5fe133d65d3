"""The door as an ASGI application around the gateway: hosts of services and organisations are its, others pass on."""

import asyncio
import contextlib
import logging
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.db import Error as DatabaseTrouble

from apps.serving.door import addresses, admitting, cors, counting, routes
from apps.serving.door.admitting import Callers
from apps.serving.door.call import Call
from apps.serving.door.organisation import OrganisationDoor
from apps.serving.door.refusing import Refusal
from apps.serving.door.relaying import RETRY_S, Relay
from apps.serving.door.routes import Route, Routes
from apps.serving.scaling import loads
from apps.workloads.gateway import headers, storing
from apps.workloads.gateway.headers import Headers
from apps.workloads.gateway.relay import Message, Receive, Scope, Send

log = logging.getLogger("plstack.serving.door")


@dataclass(slots=True)
class ServiceDoor:
    """`gateway`: the application for every other host."""

    gateway: Any
    routes: Routes = field(default_factory=lambda: Routes(lambda label: storing.in_thread(routes.read, label)))
    callers: Callers = field(default_factory=lambda: Callers(lambda *which: storing.in_thread(admitting.read, *which)))
    process: UUID = field(default_factory=uuid4)
    relay: Relay = field(init=False)
    organisations: OrganisationDoor = field(init=False)

    def __post_init__(self) -> None:
        self.relay = Relay(self.routes)
        self.organisations = OrganisationDoor(self.relay)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
            return
        label = addresses.label_of(headers.get(scope["headers"], b"host") or "")
        if scope["type"] != "http" or label is None:
            await self.gateway(scope, receive, send)
            return
        await self._answer(scope, label, receive, send)

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        writing = asyncio.create_task(self._write_forever())

        async def last_words(message: Message) -> None:
            if message["type"] == "lifespan.shutdown.complete":  # the server waits for nothing after it
                await self._finish(writing)
            await send(message)

        await self.gateway(scope, receive, last_words)

    async def _finish(self, writing: "asyncio.Task[None]") -> None:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await self._write()
        await self.relay.pool.aclose()
        with contextlib.suppress(Exception):
            await self.relay.limits.close()

    async def _write_forever(self) -> None:
        while True:
            await asyncio.sleep(counting.WRITE_EVERY_S)
            await self._write()

    async def _write(self) -> None:
        await self._tell()
        taken = self.relay.counter.take()
        if not taken:
            return
        try:
            await storing.in_thread(counting.write, taken)
        except Exception:
            self.relay.counter.give_back(taken)
            log.warning("what was asked is written later", exc_info=True)

    async def _tell(self) -> None:
        """Of what cannot be written the next one says more."""
        told = self.relay.in_flight.take()
        try:
            if told:
                await storing.in_thread(loads.write, self.process, told)
        except Exception:
            log.warning("what is in flight is told later", exc_info=True)

    async def _answer(self, scope: Scope, label: str, receive: Receive, send: Send) -> None:
        call, organisation_id = Call(scope, send), addresses.organisation_of(label)
        try:
            if organisation_id is not None:
                await self.organisations.answer(call, organisation_id, receive)
                return
            route = await self.routes.get(label)
            if route is None:
                await call.refuse(Refusal.UNKNOWN)
                return
            call.more += cors.allowed(route, scope["headers"])
            if cors.is_preflight(scope["method"], scope["headers"]):
                await _respond(send, 204, [*cors.preflight(route, scope["headers"]), *call.more[:1]])
                return
            await self._admitted(call, route, receive)
        except DatabaseTrouble:
            log.warning("cannot ask who may call", exc_info=True)
            await call.refuse(Refusal.AWAY, RETRY_S)

    async def _admitted(self, call: Call, route: Route, receive: Receive) -> None:
        secret = admitting.secret_in(call.scope["headers"])
        caller = await self.callers.get(route.service_id, secret) if secret else None
        if caller is None:
            await call.refuse(Refusal.BAD_KEY if secret else Refusal.NO_KEY)
            return
        await self.relay.carry(call, caller, route, receive)


async def _respond(send: Send, status: int, sent: Headers) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [*sent, (b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})
