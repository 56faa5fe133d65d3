"""One HTTP request to a workload and its answer back: streamed both ways, never held in memory."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

import httpcore

from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.gateway import headers, upstream
from apps.workloads.gateway.headers import Headers
from apps.workloads.gateway.hosts import Address

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class NotListening(Exception):
    """Nothing accepted the connection; the browser has not been answered."""


class BadAnswer(Exception):
    """The workload broke off or fell silent before it answered; the browser has not been answered."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Revoked(Exception):
    """The person may no longer enter; the browser has not been answered."""


class _Gone(Exception):
    """The browser went away."""


class Body:
    """The request's body as it arrives, and then the news that the browser has gone."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._complete = asyncio.Event()
        self._gone = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while not self._complete.is_set():
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._gone = True
                self._complete.set()
                raise _Gone
            if not message.get("more_body"):
                self._complete.set()
            yield message.get("body", b"")

    def finish(self) -> None:
        """There is no body, or nobody wants the rest of it."""
        self._complete.set()

    async def gone(self) -> None:
        """Return once the browser has left; until the body is finished, its reader hears of that."""
        await self._complete.wait()
        while not self._gone:
            self._gone = (await self._receive())["type"] == "http.disconnect"


async def relay(
    pool: upstream.Connections,
    endpoint: Endpoint,
    address: Address,
    scope: Scope,
    receive: Receive,
    send: Send,
    revoked: asyncio.Future[None],
) -> None:
    """Pass the request on and the answer back, until either side leaves or the person may no longer enter.

    Raises NotListening, BadAnswer or Revoked while the browser can still be told in words. An answer that breaks off
    later is left incomplete, which the server turns into a broken connection: it must not look whole.
    """
    body, told = Body(receive), asyncio.Event()

    async def tell(message: Message) -> None:
        told.set()
        await send(message)

    exchange = asyncio.create_task(_exchange(pool, endpoint, address, scope, body, tell))
    gone = asyncio.create_task(body.gone())
    try:
        await asyncio.wait({exchange, gone, revoked}, return_when=asyncio.FIRST_COMPLETED)
        if exchange.done():
            exchange.result()
    finally:
        for task in (exchange, gone):
            task.cancel()
        await asyncio.gather(exchange, gone, return_exceptions=True)
    if revoked.done() and not told.is_set():
        raise Revoked


async def _exchange(
    pool: upstream.Connections, endpoint: Endpoint, address: Address, scope: Scope, body: Body, send: Send
) -> None:
    started = False
    try:
        response = await pool.handle_async_request(_request(endpoint, address, scope, body))
        body.finish()
        try:
            await send(_start(response))
            started = True
            async for chunk in response.aiter_stream():
                # Not `wait_for`: until Python 3.12 it forgets a cancellation that comes as the sending ends.
                async with asyncio.timeout(upstream.SILENCE_S):
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            await response.aclose()
    except _Gone:
        return
    except (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.PoolTimeout) as error:
        raise NotListening from error
    except (httpcore.ProtocolError, httpcore.NetworkError, httpcore.TimeoutException) as error:
        if not started:
            raise BadAnswer(504 if isinstance(error, httpcore.TimeoutException) else 502) from error


def _request(endpoint: Endpoint, address: Address, scope: Scope, body: Body) -> httpcore.Request:
    host, port = upstream.authority(endpoint)
    incoming: Headers = list(scope["headers"])
    told = headers.to_workload(incoming, address)
    chunked = headers.get(incoming, b"transfer-encoding") is not None
    if chunked:
        told.append((b"transfer-encoding", b"chunked"))
    has_body = chunked or headers.get(incoming, b"content-length") is not None
    if not has_body:
        body.finish()
    return httpcore.Request(
        scope["method"],
        httpcore.URL(scheme=b"http", host=host, port=port, target=target_of(scope)),
        headers=told,
        content=body.__aiter__() if has_body else None,
        extensions={"timeout": upstream.TIMEOUTS},
    )


def target_of(scope: Scope) -> bytes:
    """Path and query exactly as the browser wrote them."""
    query: bytes = scope.get("query_string", b"")
    path: bytes = scope.get("raw_path") or scope["path"].encode()
    return path + b"?" + query if query else path


def _start(response: httpcore.Response) -> Message:
    return {
        "type": "http.response.start",
        "status": response.status,
        "headers": headers.to_browser(response.headers),
    }
