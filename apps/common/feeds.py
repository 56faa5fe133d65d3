"""Charts that grow while one looks: their new points are read once for all who see the same, and pushed.

A view under `growing` answers `?since=` with series whose points are newer, as `static/src/js/charts.js` describes.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Hashable
from contextvars import Context
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit
from weakref import WeakKeyDictionary

from django.urls import Resolver404, resolve
from django.utils.dateparse import parse_datetime

from apps.common.pushed import LONGEST_URL, rendered, thread

log = logging.getLogger(__name__)


def growing(every_s: float) -> Callable[[Any], Any]:
    """`every_s`: how often there is something new, in seconds."""

    def mark(view: Any) -> Any:
        view.growing = every_s
        return view

    return mark


def interval_at(url: str) -> float | None:
    """How often the chart at this address of the portal grows; None for all else."""
    parts = urlsplit(url)
    if len(url) > LONGEST_URL or parts.scheme or parts.netloc:
        return None
    try:
        found: float | None = getattr(resolve(parts.path).func, "growing", None)
    except Resolver404:
        return None
    return found


class Viewer(Protocol):
    """A page that shows a chart. `may_be_told` is False while its person's rights are being checked."""

    scope: dict[str, Any]

    @property
    def may_be_told(self) -> bool: ...

    def add_points(self, frame: str) -> None: ...

    def unchart(self, url: str) -> None:
        """The chart cannot be pushed to it: it asks by itself."""


class Feed:
    """One chart as some people see it. Pages drop the points that they have."""

    def __init__(self, url: str, every_s: float, since: float, gone: Callable[[], None]) -> None:
        self.url, self.since = url, since
        self.viewers: set[Viewer] = set()
        self._every_s, self._gone = every_s, gone
        self._task = asyncio.create_task(self._follow(), context=Context())

    def leave(self, viewer: Viewer) -> None:
        self.viewers.discard(viewer)
        if not self.viewers:
            self._task.cancel()
            self._gone()

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self._every_s)
            viewer = next((each for each in self.viewers if each.may_be_told), None)
            if viewer is not None:
                await self._read(viewer)

    async def _read(self, viewer: Viewer) -> None:
        since = self.since
        mark = "&" if "?" in self.url else "?"
        try:
            _, body = await thread.run(rendered, viewer.scope, f"{self.url}{mark}{urlencode({'since': since})}")
        except Exception:
            log.exception("a chart could not be read: %s", self.url)
            body = None
        if body is None:
            viewer.unchart(self.url)
            return
        series = json.loads(body)
        if self.since == since:  # else somebody has come who needs earlier ones
            self.since = max([since, *(_seconds(each["points"][-1][0]) for each in series if each["points"])])
        if not any(each["points"] for each in series):
            return
        frame = json.dumps({"chart": self.url, "series": series})
        for each in tuple(self.viewers):
            if each.may_be_told:
                each.add_points(frame)
            else:
                self.since = min(self.since, since)  # told after the check


def _seconds(at: float | str) -> float:
    if isinstance(at, str):
        moment = parse_datetime(at)
        return moment.timestamp() if moment else 0.0
    return at


class Feeds:
    """The charts that pages of this process show, by address and by who sees the same."""

    def __init__(self) -> None:
        self._feeds: dict[tuple[str, Hashable], Feed] = {}

    def join(self, url: str, since: float, who: Hashable, viewer: Viewer) -> Feed | None:
        """The viewer has what is not newer than `since` (Unix seconds). None for an address that is no such chart."""
        every_s, key = interval_at(url), (url, who)
        if every_s is None:
            return None
        if key not in self._feeds:
            self._feeds[key] = Feed(url, every_s, since, lambda: self._feeds.__delitem__(key))
        feed = self._feeds[key]
        feed.since = min(feed.since, since)
        feed.viewers.add(viewer)
        return feed


_feeds: WeakKeyDictionary[asyncio.AbstractEventLoop, Feeds] = WeakKeyDictionary()


def feeds() -> Feeds:
    """Those of the running event loop: a web process has one."""
    loop = asyncio.get_running_loop()
    if loop not in _feeds:
        _feeds[loop] = Feeds()
    return _feeds[loop]
