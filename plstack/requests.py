"""How the web process answers HTTP: in a bounded number of threads, each with a database connection that it keeps.

Django's own handler gives each request a thread: a connection would be opened and authenticated for every request, and
their number be bounded by nothing but the server's slots. Here requests share `THREADS` of them; where too many wait
already, the next one is told to come again instead of failing halfway. Calls hold threads, requests do not: what a slow
client sends or reads holds none.

Middleware and view are one call: as Django's handler runs them, a request changes threads once more for its view, and
under load each change waits for the interpreter's lock.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import close_old_connections
from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase

from apps.common.heartbeats import Did, Movement
from apps.common.streams import Stream
from plstack.unavailable import busy

log = logging.getLogger(__name__)

# A quarter of the embedded server's slots: the gateway, the workers and the operator's shell need theirs.
THREADS = 24
MOST_WAITING = 400
# Each look at a log or a right takes milliseconds; five hundred open pages ask for some forty rights a second.
SOCKET_THREADS = 4


class RequestThreads(Executor):
    """Runs calls in `threads` threads, oldest first. A connection that is broken or too old is not used again."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="request")
        self._threads, self._unfinished, self._lock = threads, 0, Lock()
        self._did, self._movement = Did(), Movement()

    @property
    def waiting(self) -> int:
        """Calls that no thread has taken up yet."""
        return max(self._unfinished - self._threads, 0)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        with self._lock:
            self._unfinished += 1
        future = self._pool.submit(_with_usable_connections, fn, args, kwargs)
        future.add_done_callback(self._finished)  # cancelled ones, whose clients have gone, too
        return future

    def serves(self) -> bool:
        """Whether, since this was last asked, a call has ended, a thread was free, or one of the threads has run."""
        moved = self._movement.of(thread.native_id or 0 for thread in self._pool._threads)
        return self._did() or self._unfinished < self._threads or moved

    def _finished(self, _future: "Future[Any]") -> None:
        with self._lock:
            self._unfinished -= 1
        self._did.done()


def _with_usable_connections(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    close_old_connections()
    return fn(*args, **kwargs)


class RequestHandler(ASGIHandler):
    """Django's, with the threads above. Views are ordinary functions; only the bodies of streams are asynchronous."""

    def __init__(self, threads: int = THREADS, most_waiting: int = MOST_WAITING) -> None:
        self.threads, self.most_waiting = RequestThreads(threads), most_waiting
        self.load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self.threads.waiting >= self.most_waiting:
            await _turn_away(scope, send)
            return
        async with ThreadSensitiveContext(executor=self.threads):
            await super().__call__(scope, receive, send)

    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = await sync_to_async(self.get_response)(request)
        response._handler_class = self.__class__  # type: ignore[attr-defined]
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        return response

    async def send_response(self, response: HttpResponseBase, send: Any) -> None:
        """A stream lasts as long as the right to it. Cut off, it stays incomplete: it must not look whole."""
        if not isinstance(response, Stream) or response.grant is None:
            await super().send_response(response, send)
            return
        sending = asyncio.create_task(super().send_response(response, send))
        losing = asyncio.create_task(response.grant.lost())
        try:
            await asyncio.wait({sending, losing}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
            else:
                log.info("a download was cut off: %s", losing.result().code)
        finally:
            for task in (sending, losing):
                task.cancel()
            await asyncio.gather(sending, losing, return_exceptions=True)
            await response.release()


class SocketHandler:
    """WebSockets' calls have a few threads of their own: Channels runs those of all connections in a single one."""

    def __init__(self, application: Callable[..., Awaitable[None]], threads: int = SOCKET_THREADS) -> None:
        self.application, self.threads = application, RequestThreads(threads)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async with ThreadSensitiveContext(executor=self.threads):
            await self.application(scope, receive, send)


async def _turn_away(scope: Any, send: Any) -> None:
    response = busy(scope)
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
