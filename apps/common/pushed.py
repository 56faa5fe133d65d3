"""Lists that are drawn once for all who see the same, and pushed to their pages.

A view under `pushed` is called as a browser would call it, through all middleware, as one of those who watch: what
comes back is what each of them would have fetched. That holds for a view whose rows, buttons and words follow from the
address, the language and the rights, not from the person.
"""

import asyncio
import json
import logging
import re
import zlib
from collections.abc import Callable, Hashable
from contextvars import Context
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from io import BytesIO
from typing import Any, Protocol
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse
from django.urls import Resolver404, resolve

from apps.common.access import Realm
from apps.common.actor import Actor
from apps.common.background import BackgroundThread
from apps.common.hub import PAUSE_S, SLICE

log = logging.getLogger(__name__)

LONGEST_URL = 2000
# The same list is drawn again no sooner than after so many times what drawing it took.
REST = 2
# What time alone changes: that a machine has fallen silent is no event.
EVERY_S = 30
NEEDED_HEADERS = (b"cookie", b"host", b"accept-language", b"user-agent")
TOKEN = re.compile(rb'(name="csrfmiddlewaretoken" value=")[^"]*')
# Elapsed time goes on in the browser.
CLOCK = re.compile(rb'data-elapsed="[^"]*"[^>]*>[^<]*')

# Lists and charts are drawn here one after the other, however many change: requests have their own threads.
thread = BackgroundThread("drawing")


@dataclass(frozen=True, slots=True)
class PushedList:
    """`target`: the id of the list's element. `of`: the kind of work in it."""

    target: str
    of: str


def pushed(target: str, *, of: str) -> Callable[[Any], Any]:
    def mark(view: Any) -> Any:
        view.pushed = PushedList(target, of)
        return view

    return mark


def list_at(url: str) -> PushedList | None:
    """The pushed list at this address of the portal; None for all else."""
    parts = urlsplit(url)
    if len(url) > LONGEST_URL or parts.scheme or parts.netloc:
        return None
    try:
        found: PushedList | None = getattr(resolve(parts.path).func, "pushed", None)
    except Resolver404:
        return None
    return found


def language_asked(scope: dict[str, Any]) -> tuple[bytes, ...]:
    """What of a handshake decides the language of its pages."""
    named = settings.LANGUAGE_COOKIE_NAME.encode()
    headers = scope["headers"]
    cookies = [part.strip() for name, value in headers if name == b"cookie" for part in value.split(b";")]
    asked = [value for name, value in headers if name == b"accept-language"]
    return (*asked, *(cookie for cookie in cookies if cookie.split(b"=")[0] == named))


class Watcher(Protocol):
    """A page that shows a list. `may_be_told` is False while its person's rights are being checked."""

    scope: dict[str, Any]

    @property
    def may_be_told(self) -> bool: ...

    def seen_as(self, url: str, actor: Actor) -> Hashable:
        """Whom the list at `url` is for, if `actor` sees it: equal for all who see the same."""

    def show(self, frame: bytes) -> None: ...

    def unlist(self, page: "Page") -> None:
        """The list cannot be pushed to it: it fetches it itself."""


class Page:
    """One list as some people see it, drawn when something in it may have changed."""

    def __init__(self, url: str, who: Hashable, found: PushedList, gone: Callable[[], None]) -> None:
        self.url, self.who, self.target, self.of = url, who, found.target, found.of
        self.watchers: set[Watcher] = set()
        self._gone = gone
        self._changed, self._latest = asyncio.Event(), b""
        self._behind: set[Watcher] = set()
        self._task = asyncio.create_task(self._follow(), context=Context())

    def touch(self) -> None:
        """Something in it may have changed."""
        self._changed.set()

    def welcome(self, watcher: Watcher, *, stale: bool) -> None:
        """It is sent the list at the next time that is drawn, which is now if it has missed something."""
        self._behind.add(watcher)
        if stale:
            self._changed.set()

    def leave(self, watcher: Watcher) -> None:
        self.watchers.discard(watcher)
        self._behind.discard(watcher)
        if not self.watchers:
            self._task.cancel()
            self._gone()

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                async with asyncio.timeout(EVERY_S):
                    await self._changed.wait()
            except TimeoutError:
                pass
            self._changed.clear()
            began = loop.time()
            await self._draw()
            await asyncio.sleep(max(PAUSE_S, REST * (loop.time() - began)))

    async def _draw(self) -> None:
        behind, self._behind = self._behind, set()
        watcher = next((each for each in self.watchers if each.may_be_told), None)
        if watcher is None:
            self._behind = behind
            return
        try:
            body = await thread.run(self._drawn_by, watcher)
        except Exception:
            log.exception("a list could not be drawn: %s", self.url)
            body = None
        if body is None:
            watcher.unlist(self)
            self._behind = behind
            self._changed.set()  # for the next one
            return
        timeless = CLOCK.sub(b"", body)
        receivers = self.watchers if timeless != self._latest else behind & self.watchers
        self._latest = timeless
        if receivers:
            await self._send(_packed({"list": self.target, "url": self.url}, body), tuple(receivers))

    async def _send(self, frame: bytes, receivers: tuple[Watcher, ...]) -> None:
        for number, each in enumerate(receivers, start=1):
            if each not in self.watchers:  # it has left meanwhile, or is shown another list by now
                continue
            if each.may_be_told:
                each.show(frame)
            else:
                self._behind.add(each)  # told after the check
            if not number % SLICE:
                await asyncio.sleep(0)

    def _drawn_by(self, watcher: Watcher) -> bytes | None:
        """None where the person has meanwhile become somebody else, by switching the organisation or with another role:
        what they fetch then is not for the others here."""
        request, body = rendered(watcher.scope, self.url)
        if body is None or watcher.seen_as(self.url, request.actors.get(Realm.ORGANISATION)) != self.who:
            return None
        return body


def _packed(head: dict[str, Any], body: bytes) -> bytes:
    """A line of JSON, then the list, deflated: once, and not for each page."""
    squeeze = zlib.compressobj(6, zlib.DEFLATED, -15)
    return squeeze.compress(json.dumps(head).encode() + b"\n" + body) + squeeze.flush()


@cache
def _handler() -> BaseHandler:
    handler = BaseHandler()
    handler.load_middleware(is_async=False)
    return handler


def rendered(scope: dict[str, Any], url: str) -> tuple[Any, bytes | None]:
    """The request of the person of this handshake for this page, and what they get, without tokens of forms.

    None where they may not. The request's `actors` say as whom it was answered.
    """
    parts = urlsplit(url)
    request: Any = ASGIRequest(
        {
            **scope,
            "type": "http",
            "method": "GET",
            "scheme": "https" if scope.get("scheme") == "wss" else "http",
            "path": parts.path,
            "query_string": parts.query.encode(),
            "headers": [
                *((name, value) for name, value in scope["headers"] if name in NEEDED_HEADERS),
                (b"hx-request", b"true"),
            ],
        },
        BytesIO(),
    )
    request.is_push = True
    response = _handler().get_response(request)
    if response.status_code != HTTPStatus.OK or not isinstance(response, HttpResponse):
        return request, None
    return request, TOKEN.sub(rb"\1", response.content)


class Pages:
    """The pushed lists of this process, by address and by who sees the same."""

    def __init__(self) -> None:
        self._pages: dict[tuple[str, Hashable], Page] = {}

    def join(self, url: str, who: Hashable, watcher: Watcher) -> Page | None:
        """None for an address that is no pushed list."""
        found, key = list_at(url), (url, who)
        if found is None:
            return None
        if key not in self._pages:
            self._pages[key] = Page(url, who, found, lambda: self._pages.__delitem__(key))
        self._pages[key].watchers.add(watcher)
        return self._pages[key]


_pages: WeakKeyDictionary[asyncio.AbstractEventLoop, Pages] = WeakKeyDictionary()


def pages() -> Pages:
    """Those of the running event loop: a web process has one."""
    loop = asyncio.get_running_loop()
    if loop not in _pages:
        _pages[loop] = Pages()
    return _pages[loop]
