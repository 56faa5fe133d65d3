"""Connections to workloads."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any

import httpcore

from apps.workloads.drivers.sockets import Endpoint, connected, pinned

CONNECT_S = 5.0
# How long either side may be silent in the middle of a request, a cell that computes included.
SILENCE_S = 600.0
TIMEOUTS = {"connect": CONNECT_S, "pool": CONNECT_S, "read": SILENCE_S, "write": SILENCE_S}
UNIX = "unix-"
MOST_OPEN, MOST_IDLE, IDLE_S = 2000, 100, 4.0
"""How many requests are on their way at a time, how many connections wait for one, and how long each of these does."""


def authority(endpoint: Endpoint) -> tuple[bytes, int]:
    """The endpoint as a host and port for the pool, which keeps connections apart by them."""
    if endpoint.socket_path is not None:
        return f"{UNIX}{os.fsencode(endpoint.socket_path).hex()}".encode(), 80
    return (endpoint.host or "").encode(), endpoint.port or 80


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self) -> None:
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        if not host.startswith(UNIX):
            return await self._sockets.connect_tcp(host, port, timeout, local_address, socket_options)
        try:
            with pinned(os.fsdecode(bytes.fromhex(host.removeprefix(UNIX)))) as path:
                return await self._sockets.connect_unix_socket(path, timeout)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error

    async def sleep(self, seconds: float) -> None:
        await self._sockets.sleep(seconds)


class Stale(httpcore.RemoteProtocolError):
    """A connection that had been kept broke before the answer began: the other side may just have closed it."""


class _Answer:
    """The body of an answer. Once it is closed, its connection serves the next request, or is gone."""

    def __init__(self, content: Any, give_back: Callable[[], Awaitable[None]]) -> None:
        self._content = content
        self._give_back: Callable[[], Awaitable[None]] | None = give_back

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._content:
            yield chunk

    async def aclose(self) -> None:
        give_back, self._give_back = self._give_back, None
        if give_back is not None:
            try:
                await self._content.aclose()
            finally:
                await give_back()


class Connections:
    """Connections to all workloads; kept open for a moment, since requests come in bursts.

    In place of httpcore's pool, which looks at each of its connections twice for each request: with 32 callers it gave
    a third of the answers that it gave one (`benchmarks.serving`). Here the last one that was left is taken first.
    """

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(MOST_OPEN)
        self._idle: dict[tuple[bytes, int | None], list[httpcore.AsyncHTTPConnection]] = {}
        self._count, self._look_at = 0, 0.0
        self._backend = _Backend()

    async def handle_async_request(self, request: httpcore.Request) -> httpcore.Response:
        """The answer, which has to be closed. Raises as httpcore's pool (`PoolTimeout`: too many are open), or `Stale`.

        With the extension `fresh` no connection is taken that has been kept.
        """
        try:
            async with asyncio.timeout(CONNECT_S if self._free.locked() else None):
                await self._free.acquire()
        except TimeoutError as error:
            raise httpcore.PoolTimeout from error
        try:
            kept = None if request.extensions.get("fresh") else await self._kept(request.url.origin)
            connection = kept or self._new(request.url.origin)
            response = await connection.handle_async_request(request)
        except BaseException as error:
            self._free.release()
            if isinstance(error, httpcore.RemoteProtocolError | httpcore.NetworkError) and kept is not None:
                raise Stale(str(error)) from error
            raise
        content = _Answer(response.stream, partial(self._give_back, request.url.origin, connection))
        return httpcore.Response(
            response.status, headers=response.headers, content=content, extensions=response.extensions
        )

    def _new(self, origin: httpcore.Origin) -> httpcore.AsyncHTTPConnection:
        return httpcore.AsyncHTTPConnection(origin, keepalive_expiry=IDLE_S, network_backend=self._backend)

    async def _kept(self, origin: httpcore.Origin) -> httpcore.AsyncHTTPConnection | None:
        await self._close_expired()
        where = (origin.host, origin.port)
        idle = self._idle.get(where, [])
        while idle:
            connection = idle.pop()
            self._count -= 1
            if not connection.has_expired():
                return connection
            await connection.aclose()
        self._idle.pop(where, None)
        return None

    async def _give_back(self, origin: httpcore.Origin, connection: httpcore.AsyncHTTPConnection) -> None:
        self._free.release()
        if connection.is_idle() and self._count < MOST_IDLE:
            self._idle.setdefault((origin.host, origin.port), []).append(connection)
            self._count += 1
        else:
            await connection.aclose()

    async def _close_expired(self) -> None:
        """Once a second, of all origins: of most of them nobody asks again."""
        now = time.monotonic()
        if now < self._look_at:
            return
        self._look_at = now + 1.0
        expired: list[httpcore.AsyncHTTPConnection] = []
        for where, idle in list(self._idle.items()):
            over = [each for each in idle if each.has_expired()]
            kept = [each for each in idle if each not in over]
            expired, self._count = expired + over, self._count - len(over)
            if kept:
                self._idle[where] = kept
            else:
                del self._idle[where]
        for each in expired:
            await each.aclose()

    async def aclose(self) -> None:
        """Close those that nobody uses."""
        idle, self._idle, self._count = self._idle, {}, 0
        for connection in chain.from_iterable(idle.values()):
            await connection.aclose()


def connected_socket(endpoint: Endpoint) -> socket.socket:
    """A connected socket for a WebSocket; blocks for at most CONNECT_S. Raises OSError."""
    return connected(endpoint, CONNECT_S)
