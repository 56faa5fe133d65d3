"""The gateway's ASGI application: who asks, for which port of which workload, and where that is now."""

import asyncio
import contextlib
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qs
from uuid import UUID

from django.db import Error as DatabaseTrouble

from apps.workloads import activity, nodes
from apps.workloads.choices import Source
from apps.workloads.gateway import (
    egress,
    headers,
    hosts,
    passes,
    relay,
    sockets,
    storing,
    tracking_door,
    upstream,
)
from apps.workloads.gateway.admissions import Admission, Admissions, Key
from apps.workloads.gateway.headers import Headers
from apps.workloads.gateway.hosts import Address
from apps.workloads.gateway.pages import Page, answer
from apps.workloads.gateway.proxy import Proxy
from apps.workloads.gateway.relay import Receive, Scope, Send
from apps.workloads.gateway.targets import State

log = logging.getLogger(__name__)

OURS = "/.plstack/"
SAFE_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
MAX_CONNECTIONS = 256  # of one workload, as many as its relay takes
PAGE_OF = {
    State.WAITING: Page.WAITING,
    State.STARTING: Page.STARTING,
    State.ENDED: Page.ENDED,
    State.UNSEEN: Page.AWAY,
}
REFUSED = 4403
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(slots=True)
class Gateway:
    """One process's gateway. Its loops run between ASGI's lifespan events."""

    admissions: Admissions = field(default_factory=lambda: Admissions(storing.ask))
    recorder: activity.Recorder = field(default_factory=lambda: activity.Recorder(Source.GATEWAY))
    pool: upstream.Connections = field(default_factory=upstream.Connections)
    _open: dict[UUID, int] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        loops = [
            asyncio.create_task(self.admissions.recheck_forever()),
            asyncio.create_task(storing.record_forever(self.recorder)),
            asyncio.create_task(storing.tidy_forever()),
        ]
        allowed = egress.policy()
        if allowed is not None:
            ways = (Proxy(allowed, path) for path in nodes.egress_sockets())
            loops += [asyncio.create_task(_lead_out(way)) for way in ways]
        doors = (Proxy(tracking_door.target(), path, tracking_door.parse) for path in nodes.tracking_sockets())
        loops += [asyncio.create_task(_lead_out(door)) for door in doors]
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        await self.pool.aclose()
        await storing.finish(self.recorder)
        await send({"type": "lifespan.shutdown.complete"})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == f"{OURS}health":
            await _say(send, 200, "ok\n")
            return
        address = hosts.parse(headers.get(scope["headers"], b"host") or "")
        if address is None:
            await _say(send, 421, "Nothing is reached by this name.\n")
            return
        try:
            await self._answer(scope, address, receive, send)
        except DatabaseTrouble:
            log.warning("cannot ask who may enter", exc_info=True)
            await _page(Page.AWAY, scope, address, send, path=relay.target_of(scope).decode("latin-1"))

    async def _answer(self, scope: Scope, address: Address, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path == f"{OURS}enter":
            await self._enter(scope, address, send)
        elif path.startswith(OURS):
            await _say(send, 404, "Not found.\n")
        elif headers.is_foreign(scope["headers"], address, scope["method"]):
            await _page(Page.FOREIGN, scope, address, send)
        else:
            await self._pass_on(scope, address, receive, send)

    async def _enter(self, scope: Scope, address: Address, send: Send) -> None:
        """Exchange the code for a cookie and go on to the path that was asked for."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        code, path = query.get("code", [""])[0], query.get("next", ["/"])[0]
        token = await storing.exchange(code, address) if scope["method"] == "GET" and code else None
        if token is None:
            await _page(Page.EXPIRED, scope, address, send, path="/")
            return
        if not SAFE_PATH.fullmatch(path) or path.startswith(OURS):
            path = "/"
        sent: Headers = [
            (b"location", path.encode("utf-8", "replace")),
            (b"set-cookie", headers.set_cookie(token)),
            (b"cache-control", b"no-store"),
            (b"referrer-policy", b"no-referrer"),
        ]
        await _respond(send, 303, sent, b"")

    async def _pass_on(self, scope: Scope, address: Address, receive: Receive, send: Send) -> None:
        path = relay.target_of(scope).decode("latin-1")
        admission = await self._admit(scope, address)
        if admission is None:
            await _page(Page.ENTER, scope, address, send, path=path)
            return
        page = await self._relay(scope, admission, receive, send)
        if page is not None:
            visitor = admission.visitor
            known = {"portal": visitor.portal, "language": visitor.language}
            await _page(page, scope, address, send, path=path, **known)

    async def _relay(self, scope: Scope, admission: Admission, receive: Receive, send: Send) -> Page | None:
        """Relay the request; the page to show where nothing could be passed on."""
        target, workload_id = admission.target, admission.visitor.workload.pk
        if target.endpoint is None:
            return PAGE_OF[target.state]
        if self._open.get(workload_id, 0) >= MAX_CONNECTIONS:
            return Page.BUSY
        self.recorder.requested(workload_id, typed=scope["method"] not in SAFE_METHODS)
        try:
            with self._counted(workload_id), self.admissions.held(admission.key) as revoked:
                await relay.relay(self.pool, target.endpoint, admission.key.address, scope, receive, send, revoked)
        except relay.NotListening:
            self.admissions.forget(admission.key)
            return Page.STARTING
        except relay.Revoked:
            return Page.ENTER
        except relay.BadAnswer as error:
            self.admissions.forget(admission.key)
            return Page.SILENT if error.status == HTTPStatus.GATEWAY_TIMEOUT else Page.BROKEN
        return None

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            admission = await self._admit_socket(scope)
        except DatabaseTrouble:
            await send({"type": "websocket.close", "code": sockets.UNREACHABLE})
            return
        if admission is None:
            await send({"type": "websocket.close", "code": REFUSED})
            return
        target, workload_id = admission.target, admission.visitor.workload.pk
        if target.endpoint is None or self._open.get(workload_id, 0) >= MAX_CONNECTIONS:
            await send({"type": "websocket.close", "code": sockets.UNREACHABLE})
            return
        with self._counted(workload_id), self.admissions.held(admission.key) as revoked:
            await sockets.relay(
                target.endpoint,
                admission.key.address,
                scope,
                receive,
                send,
                revoked,
                lambda: self.recorder.requested(workload_id, typed=True),
            )

    async def _admit_socket(self, scope: Scope) -> Admission | None:
        """Browsers let any page open a WebSocket, but name that page: it must be one of this host's."""
        address = hosts.parse(headers.get(scope["headers"], b"host") or "")
        if address is None or headers.get(scope["headers"], b"origin") != hosts.origin(address):
            return None
        return await self._admit(scope, address)

    async def _admit(self, scope: Scope, address: Address) -> Admission | None:
        for token in headers.tokens(scope["headers"]):
            admission = await self.admissions.get(Key(passes.digest(token), address))
            if admission is not None:
                return admission
        return None

    @contextlib.contextmanager
    def _counted(self, workload_id: UUID) -> Iterator[None]:
        self._open[workload_id] = self._open.get(workload_id, 0) + 1
        self.recorder.opened(workload_id)
        try:
            yield
        finally:
            self.recorder.closed(workload_id)
            self._open[workload_id] -= 1
            if not self._open[workload_id]:
                del self._open[workload_id]


async def _lead_out(proxy: Proxy) -> None:
    """Without the proxy workloads have no way out, and everything else still works."""
    try:
        await proxy.serve()
    except OSError:
        log.exception("the way out cannot be opened")


async def _respond(send: Send, status: int, sent: Headers, body: bytes) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*sent, length]})
    await send({"type": "http.response.body", "body": body})


async def _say(send: Send, status: int, text: str) -> None:
    await _respond(send, status, [(b"content-type", b"text/plain; charset=utf-8")], text.encode())


async def _page(
    page: Page, scope: Scope, address: Address, send: Send, *, path: str = "/", portal: str = "", language: str = ""
) -> None:
    said = answer(page, scope["headers"], address, path=path, portal=portal, language=language)
    await _respond(send, said.status, said.headers, said.body)
