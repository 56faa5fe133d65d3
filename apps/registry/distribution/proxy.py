"""The registry behind the platform's own address: `/v2/…` is passed to its socket, streamed both ways.

The registry asks for our tokens itself. What is added here: an answer while it is away, and a look at each manifest
before it gets there, since only a manifest says how much an image adds.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import parse_qs

import httpcore
from django.conf import settings

from apps.registry.distribution import admission, pushes
from apps.workloads.gateway import headers
from apps.workloads.gateway.relay import Body, Message, Receive, Scope, Send, target_of

PREFIX = "/v2"
OURS = frozenset({"/v2/token", "/v2/events"})
TIMEOUTS = {"connect": 5.0, "pool": 30.0, "read": 600.0, "write": 600.0}
MANIFEST = re.compile(r"/v2/(.+)/manifests/([^/]+)")
BLOB = re.compile(r"/v2/(.+)/blobs/(sha256:[^/]+)")
LAYER = re.compile(r"/v2/.+/blobs/[^/]+")
UPLOAD = re.compile(r"/v2/(.+)/blobs/uploads/[^/]*")
HOLD_S, PAUSE_S = 60.0, 0.1
"""How long requests wait for the registry while it is away for a collection."""
PASSED_ON = frozenset(
    b"accept accept-encoding authorization content-length content-range content-type host if-match if-none-match range "
    b"transfer-encoding user-agent".split()
)
QUESTIONS = frozenset({"GET", "HEAD"})
EMPTY = (b"content-length", b"0")
Result = TypeVar("Result")
DROPPED = headers.HOP_BY_HOP | {b"set-cookie", b"strict-transport-security"}


@dataclass(slots=True)
class RegistryProxy:
    """An ASGI application that answers for the registry, and passes all else to `application`.

    `threads`: in which the database is asked.
    """

    application: Any
    threads: Executor
    _movement: pushes.Movement = field(default_factory=pushes.Movement)
    _pools: dict[str, httpcore.AsyncConnectionPool] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if not (path == PREFIX or path.startswith(f"{PREFIX}/")) or path in OURS:
            await self.application(scope, receive, send)
        elif not settings.REGISTRY_SOCKET:
            await _say(send, HTTPStatus.NOT_FOUND, "UNSUPPORTED", "There is no registry at this address.")
        else:
            await self._pass_on(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = Body(receive)
        try:
            if scope["method"] == "DELETE":
                authorization = headers.get(scope["headers"], b"authorization") or ""
                if await self._delete(scope["path"], authorization):
                    await send({"type": "http.response.start", "status": HTTPStatus.ACCEPTED, "headers": [EMPTY]})
                    await send({"type": "http.response.body", "body": b""})
                    return
            content = await self._content(scope, body)
        except admission.Refused as refusal:
            await _say(send, refusal.status, refusal.code, refusal.message)
            return
        exchange = asyncio.create_task(self._exchange(scope, content, body, send))
        gone = asyncio.create_task(body.gone())
        try:
            await asyncio.wait({exchange, gone}, return_when=asyncio.FIRST_COMPLETED)
            if exchange.done():
                exchange.result()
        finally:
            for task in (exchange, gone):
                task.cancel()
            await asyncio.gather(exchange, gone, return_exceptions=True)

    async def _content(self, scope: Scope, body: Body) -> AsyncIterator[bytes] | bytes | None:
        """The request's body for the registry; a manifest as a whole, looked at. Raises admission.Refused."""
        incoming = scope["headers"]
        authorization = headers.get(incoming, b"authorization") or ""
        upload = UPLOAD.fullmatch(scope["path"]) if scope["method"] == "POST" else None
        if upload is not None and b"mount=" not in scope.get("query_string", b""):  # that layer may be ours already
            await self._in_thread(admission.admit_layer, upload[1], authorization)
        for repository, digest in blobs_of_push(scope):
            await self._in_thread(admission.note_push, repository, digest, authorization)
        has_body = any(headers.get(incoming, name) is not None for name in (b"content-length", b"transfer-encoding"))
        if not has_body:
            body.finish()
            return None
        manifest = MANIFEST.fullmatch(scope["path"]) if scope["method"] == "PUT" else None
        if manifest is None:
            return self._watched(body)
        data = b""
        async for piece in body:
            data += piece
            if len(data) > admission.MOST_BYTES:
                raise admission.Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "MANIFEST_INVALID", "too large")
        await self._in_thread(admission.admit, manifest[1], data, authorization)
        return data

    async def _watched(self, body: Body) -> AsyncIterator[bytes]:
        async for piece in body:
            self._movement.note()
            yield piece

    async def _in_thread(self, call: Callable[..., Result], *given: str | bytes) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self.threads, call, *given)

    async def _delete(self, path: str, authorization: str) -> bool:
        """Whether it is done. Raises admission.Refused for a part of an image, and for an image that somebody needs."""
        if LAYER.fullmatch(path):
            raise admission.Refused(HTTPStatus.METHOD_NOT_ALLOWED, "UNSUPPORTED", "Layers go with their images.")
        manifest = MANIFEST.fullmatch(path)
        return manifest is not None and await self._in_thread(admission.delete, manifest[1], manifest[2], authorization)

    async def _exchange(
        self, scope: Scope, content: AsyncIterator[bytes] | bytes | None, body: Body, send: Send
    ) -> None:
        started = False
        try:
            response = await self._answer(scope, content)
            body.finish()
            try:
                await send(_start(response))
                started = True
                async for chunk in response.aiter_stream():
                    self._movement.note()
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
            finally:
                await response.aclose()
        except httpcore.LocalProtocolError as error:  # what is passed on is no request, such as one without a host
            if not started:
                await _say(send, HTTPStatus.BAD_REQUEST, "UNSUPPORTED", f"The request makes no sense: {error}.")
        except (httpcore.ProtocolError, httpcore.NetworkError, httpcore.TimeoutException):
            if not started:
                words = "The registry does not answer now. Try again in a moment."
                await _say(send, HTTPStatus.SERVICE_UNAVAILABLE, "UNAVAILABLE", words, retry_after_s=10)

    async def _answer(self, scope: Scope, content: AsyncIterator[bytes] | bytes | None) -> httpcore.Response:
        """Waits while a collection is on: it takes seconds, and who pushes or pulls need not hear of it."""
        until = time.monotonic() + HOLD_S
        while True:
            was_collecting = pushes.is_collecting()
            try:
                return await self._pool().handle_async_request(_request(scope, content))
            except (httpcore.NetworkError, httpcore.RemoteProtocolError) as error:
                # What was never connected was not asked. A question that was cut off can be asked again.
                again = isinstance(error, httpcore.ConnectError) or (content is None and scope["method"] in QUESTIONS)
                # It may have come back between the refusal and this look: what is asked anew then is answered.
                away = was_collecting or pushes.is_collecting()
                if not again or not away or time.monotonic() > until:
                    raise
                await asyncio.sleep(PAUSE_S)

    def _pool(self) -> httpcore.AsyncConnectionPool:
        path = settings.REGISTRY_SOCKET
        if path not in self._pools:
            self._pools[path] = httpcore.AsyncConnectionPool(
                max_connections=200, max_keepalive_connections=20, keepalive_expiry=4.0, uds=path
            )
        return self._pools[path]


def blobs_of_push(scope: Scope) -> list[tuple[str, str]]:
    """Repository and digest of each blob that the request asks for, mounts or completes, if its client pushes."""
    method, path = scope["method"], scope["path"]
    blob, upload = BLOB.fullmatch(path), UPLOAD.fullmatch(path)
    if blob is not None and method in ("GET", "HEAD"):
        return [(blob[1], blob[2])]
    if upload is None or method not in ("POST", "PUT"):
        return []
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return [(upload[1], digest) for name in ("digest", "mount") for digest in query.get(name, ())[:1]]


def _request(scope: Scope, content: AsyncIterator[bytes] | bytes | None) -> httpcore.Request:
    return httpcore.Request(
        scope["method"],
        httpcore.URL(scheme=b"http", host=b"registry", port=None, target=target_of(scope)),
        headers=[(name, value) for name, value in scope["headers"] if name in PASSED_ON],
        content=content,
        extensions={"timeout": TIMEOUTS},
    )


def _start(response: httpcore.Response) -> Message:
    lowered = [(name.lower(), value) for name, value in response.headers]
    kept = [(name, value) for name, value in lowered if name not in DROPPED]
    # A blob may be anything that somebody pushed: no browser shows it as a page of this address.
    safe = [(b"x-content-type-options", b"nosniff"), (b"content-security-policy", b"sandbox; default-src 'none'")]
    return {"type": "http.response.start", "status": response.status, "headers": [
        *(pair for pair in kept if pair[0] not in {name for name, _value in safe}), *safe,
        (b"content-disposition", b"attachment"),
    ]}  # fmt: skip


async def _say(send: Send, status: int, code: str, message: str, retry_after_s: int = 0) -> None:
    """An error as clients of registries show them."""
    body = json.dumps({"errors": [{"code": code, "message": message}]}).encode()
    sent = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if retry_after_s:
        sent.append((b"retry-after", str(retry_after_s).encode()))
    await send({"type": "http.response.start", "status": int(status), "headers": sent})
    await send({"type": "http.response.body", "body": body})
