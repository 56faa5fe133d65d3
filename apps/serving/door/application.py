"""The door as an ASGI application around the gateway: requests to a service's own host are its, all others pass on."""

import asyncio
import contextlib
import logging
import math
import re
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpcore
from django.db import Error as DatabaseTrouble

from apps.serving.door import addresses, admitting, cors, counting, routes
from apps.serving.door.admitting import Callers, Limits
from apps.serving.door.balancing import Balance
from apps.serving.door.bodies import Body, ClientGone, TooLarge
from apps.serving.door.passing import REQUEST_ID, Exchange, Refused
from apps.serving.door.refusing import Refusal, refuse
from apps.serving.door.routes import Route, Routes
from apps.workloads.gateway import headers, storing, upstream
from apps.workloads.gateway.headers import Headers
from apps.workloads.gateway.relay import Message, Receive, Scope, Send

log = logging.getLogger("plstack.serving.door")

MOST_OPEN = 4000
"""Requests that one process holds: each may keep its body in memory, see `bodies.WHOLE_BYTES`."""
HOLD_S, LOOK_EVERY_S = 3.0, 0.1
"""How long a request waits for the first replica of a service that runs: one that was lost is replaced meanwhile."""
RETRY_S = 3
GIVEN_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}", re.ASCII)


@dataclass(slots=True)
class ServiceDoor:
    """`gateway`: the application for every other host."""

    gateway: Any
    routes: Routes = field(default_factory=lambda: Routes(lambda label: storing.in_thread(routes.read, label)))
    callers: Callers = field(default_factory=lambda: Callers(lambda *which: storing.in_thread(admitting.read, *which)))
    limits: Limits = field(default_factory=Limits)
    counter: counting.Counter = field(default_factory=counting.Counter)
    balance: Balance = field(default_factory=Balance)
    pool: httpcore.AsyncConnectionPool = field(default_factory=upstream.pool)
    _open: int = 0

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
        await self.pool.aclose()
        with contextlib.suppress(Exception):
            await self.limits.close()

    async def _write_forever(self) -> None:
        while True:
            await asyncio.sleep(counting.WRITE_EVERY_S)
            await self._write()

    async def _write(self) -> None:
        taken = self.counter.take()
        if not taken:
            return
        try:
            await storing.in_thread(counting.write, taken)
        except Exception:
            self.counter.give_back(taken)
            log.warning("what was asked is written later", exc_info=True)

    async def _answer(self, scope: Scope, label: str, receive: Receive, send: Send) -> None:
        call = _Call(scope, send, _request_id(scope["headers"]))
        try:
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

    async def _admitted(self, call: "_Call", route: Route, receive: Receive) -> None:
        secret = admitting.secret_in(call.scope["headers"])
        caller = await self.callers.get(route.service_id, secret) if secret else None
        if caller is None:
            await call.refuse(Refusal.BAD_KEY if secret else Refusal.NO_KEY)
            return
        wait_ms = await self.limits.wait_ms(caller)
        if wait_ms:
            self.counter.refused(caller.key_id)
            await call.refuse(Refusal.TOO_OFTEN, math.ceil(wait_ms / 1000))
            return
        if self._open >= MOST_OPEN:
            self.counter.refused(caller.key_id)
            await call.refuse(Refusal.BUSY, RETRY_S)
            return
        self._open += 1
        try:
            await self._pass_on(call, route, receive)
        finally:
            self._open -= 1
            took_ms = ((call.began_at or time.monotonic()) - call.came_at) * 1000
            self.counter.answered(caller.key_id, call.status, took_ms)
            _log(call, route, took_ms)

    async def _pass_on(self, call: "_Call", route: Route, receive: Receive) -> None:
        found = await self._with_replicas(route)
        if not found.replicas:
            await call.refuse(Refusal.STARTING if found.is_started else Refusal.STOPPED, RETRY_S)
            return
        if _announced(call.scope["headers"]) > found.body_limit:
            await call.refuse(Refusal.TOO_LARGE)
            return
        body = Body(receive, found.body_limit, found.timeout_s)
        exchange = Exchange(
            self.pool, self.balance, found, call.scope, body, call.tell, list(call.more), call.request_id
        )
        try:
            await body.read_first()
            await exchange.run()
        except TooLarge:
            await call.refuse(Refusal.TOO_LARGE)
        except ClientGone:
            call.status = call.status or CLIENT_GONE
        except Refused as error:
            await call.refuse(error.refusal, RETRY_S)

    async def _with_replicas(self, route: Route) -> Route:
        """The route, once a replica is well; as it is where none becomes so in time, or nothing is started."""
        found, end = route, time.monotonic() + HOLD_S
        while found.is_started and not found.replicas and time.monotonic() < end:
            await asyncio.sleep(LOOK_EVERY_S)
            found = await self.routes.get(route.label) or found
        return found


CLIENT_GONE = 499
"""As other proxies log it: nobody was left to be answered."""


@dataclass(slots=True)
class _Call:
    """One request, and what became of it. `status`: 0 while nothing was answered."""

    scope: Scope
    send: Send
    request_id: str
    came_at: float = field(default_factory=time.monotonic)
    began_at: float | None = None
    status: int = 0
    more: Headers = field(default_factory=list)

    def __post_init__(self) -> None:
        self.more = [(REQUEST_ID, self.request_id.encode())]

    async def tell(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.began_at = message["status"], time.monotonic()
        await self.send(message)

    async def refuse(self, refusal: Refusal, retry_after_s: int | None = None) -> None:
        if not self.status:
            await refuse(
                refusal,
                self.scope["headers"],
                self.tell,
                more=self.more,
                request_id=self.request_id,
                retry_after_s=retry_after_s,
            )


def _request_id(incoming: Headers) -> str:
    """The caller's own, where it can stand in a log."""
    given = headers.get(incoming, REQUEST_ID) or ""
    return given if GIVEN_ID.fullmatch(given) else uuid.uuid4().hex


def _announced(incoming: Headers) -> int:
    """How many bytes are to come, as far as the caller says."""
    said = headers.get(incoming, b"content-length") or "0"
    return int(said) if said.isascii() and said.isdigit() and len(said) < 19 else 0


def _log(call: _Call, route: Route, took_ms: float) -> None:
    log.info(
        "%s %s %s %s %d %.1f ms", call.request_id, route.label, call.scope["method"], call.scope["path"], call.status,
        took_ms,
    )  # fmt: skip


async def _respond(send: Send, status: int, sent: Headers) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [*sent, (b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})
