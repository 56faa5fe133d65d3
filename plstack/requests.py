"""Answer HTTP in a bounded number of threads, each with its own persistent database connection.

Django's own handler gives each request a thread: a connection would be opened and authenticated for every request, and
only the server's slots would bound their number. Here requests share `THREADS` threads; when too many wait already, the
next request is told to retry instead of failing halfway. Calls hold threads, requests do not: a slow client that sends
or reads holds none.

Middleware and view are one call: in Django's handler a request changes threads once more for its view, and under load
each change waits for the interpreter's lock.
"""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.db import close_old_connections
from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase

from apps.common.heartbeats import ThreadActivity, WorkEvidence
from apps.common.streams import Stream
from plstack.unavailable import busy

log = logging.getLogger(__name__)

# A quarter of the embedded server's slots, for all web processes together: the gateway, the workers and the operator's
# shell need the others.
THREADS = max(24 // settings.PLSTACK_WEB_PROCESSES, 6)
MOST_WAITING = 400
# Each look at a log takes milliseconds. Rights of pages and pushed lists have a thread each (`apps.common.background`).
SOCKET_THREADS = 3
# A request waits for the interpreter after each of its queries: by default for up to 5 ms while other threads compute,
# which is up to 0.2 s for forty queries while a list is drawn and a thousand pages are told.
SWITCH_INTERVAL_S = 0.0005


class RequestThreads(Executor):
    """Run calls in `threads` threads, oldest first. Broken and expired connections are closed before each call."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="request")
        self._threads, self._unfinished, self._lock = threads, 0, Lock()
        self._calls_done, self._thread_activity = WorkEvidence(), ThreadActivity()

    @property
    def waiting(self) -> int:
        """The number of calls that no thread has started yet."""
        return max(self._unfinished - self._threads, 0)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        with self._lock:
            self._unfinished += 1
        future = self._pool.submit(_with_usable_connections, fn, args, kwargs)
        future.add_done_callback(self._finished)  # also for cancelled calls, whose clients have gone
        return future

    def serves(self) -> bool:
        """Whether since the last check a call has ended or a thread has run, or a thread is free now."""
        threads = tuple(self._pool._threads)  # copied at once: a call that comes in may start another one meanwhile
        moved = self._thread_activity.has_run(thread.native_id or 0 for thread in threads)
        return self._calls_done() or self._unfinished < self._threads or moved

    def _finished(self, _future: "Future[Any]") -> None:
        with self._lock:
            self._unfinished -= 1
        self._calls_done.done()


def _with_usable_connections(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    close_old_connections()
    return fn(*args, **kwargs)


class RequestHandler(ASGIHandler):
    """Django's handler on `RequestThreads`. Views are synchronous; only the bodies of streams are asynchronous."""

    def __init__(self, threads: int = THREADS, most_waiting: int = MOST_WAITING) -> None:
        self.threads, self.most_waiting = RequestThreads(threads), most_waiting
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        self.load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self.threads.waiting >= self.most_waiting:
            await _send_busy(scope, send)
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
        """Send the response; cut a stream off when its right is lost, still incomplete: it must not look whole."""
        if not isinstance(response, Stream) or response.grant is None:
            await super().send_response(response, send)
            return
        sending = asyncio.create_task(super().send_response(response, send))
        losing = asyncio.create_task(response.grant.wait_until_lost())
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
    """Run the calls of WebSockets in a few threads; by default Channels runs those of all connections in one."""

    def __init__(self, application: Callable[..., Awaitable[None]], threads: int = SOCKET_THREADS) -> None:
        self.application, self.threads = application, RequestThreads(threads)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async with ThreadSensitiveContext(executor=self.threads):
            await self.application(scope, receive, send)


async def _send_busy(scope: Any, send: Any) -> None:
    response = busy(scope)
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
