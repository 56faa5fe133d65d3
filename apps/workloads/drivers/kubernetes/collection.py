"""A collection of the API as this process knows it: listed once, then kept up to date by one watch.

Kubernetes, "Efficient detection of changes". What is here answers only while it is *proved fresh*: the stream, which is
in order, has brought something, or ended as agreed, within the last `FRESH_S`. Watches are short, so a quiet collection
is proved again and again, and a dead connection is noticed. A break of any other kind leads to a list, never to a
resumed watch: the API server may have come back with an earlier state, whose versions a watch would skip in silence.

Absence proves nothing here. Whoever needs to know that something is gone asks the API itself.
"""

import json
import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, Generic, TypeVar

from kubernetes.client import ApiException

from apps.workloads.drivers.errors import CannotSee
from apps.workloads.drivers.kubernetes.cluster import GONE, TIMEOUT_S, asking

log = logging.getLogger(__name__)
T = TypeVar("T")
Raw = Mapping[str, Any]
FRESH_S = 5.0
WATCH_S = 3
"""Of one watch. Less than FRESH_S by more than a reconnection takes."""
FULL_LIST_S = 120.0
IDLE_S = 120.0
"""A view that nobody has asked for so long ends: there is no work on that cluster."""
PAGE = 500
BACKOFF_S, MOST_BACKOFF_S = 1.0, 30.0


class Expired(Exception):
    """The version to go on from is no longer there, or lies in a future that never came."""


def pages(fetch: Callable[..., Any]) -> Iterator[tuple[list[Raw], str]]:
    """The whole collection at one version, which is the newest there is. Raises ApiException, HTTPError, ValueError."""
    following: str | None = None
    while True:
        with closing(fetch(limit=PAGE, _continue=following, _preload_content=False, _request_timeout=TIMEOUT_S)) as got:
            page = json.loads(got.read())
        meta = page.get("metadata", {})
        yield page.get("items") or [], str(meta.get("resourceVersion", ""))
        following = meta.get("continue")
        if not following:
            return


class CollectionView(Generic[T]):
    """For use by several threads. Its own thread begins with the first `keep`.

    `fetch`: the list call of the API's client. `read`: the key and what is kept of an object. `changed`: is told keys
    whose objects have become others, or have gone, since the last time; not of the first list.
    """

    def __init__(
        self,
        fetch: Callable[..., Any],
        read: Callable[[Raw], tuple[str, T]],
        changed: Callable[[Iterable[str]], None] = lambda _keys: None,
    ) -> None:
        self._fetch, self._read, self._changed = fetch, read, changed
        self._items: dict[str, T] = {}
        self._version = ""
        self._has_listed = False
        self._proved_at = float("-inf")
        self._asked_at = time.monotonic()
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self._proved_at < FRESH_S

    def get(self, key: str) -> T | None:
        """None: it is not known to be there, which is no proof that it is not."""
        with self._lock:
            return self._items.get(key) if self.is_fresh else None

    def all(self) -> dict[str, T] | None:
        """None: not known well enough just now."""
        with self._lock:
            return dict(self._items) if self.is_fresh else None

    def keep(self) -> None:
        """Somebody asks, and will again: begin, or go on."""
        with self._lock:
            self._asked_at = time.monotonic()
            if self._thread is not None and self._thread.is_alive():
                return
            self._ending = threading.Event()
            self._thread = threading.Thread(target=self._run, name="kubernetes-watch", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._ending.set()

    def _is_wanted(self) -> bool:
        return not self._ending.is_set() and time.monotonic() - self._asked_at < IDLE_S

    def _run(self) -> None:
        pause = BACKOFF_S
        while self._is_wanted():
            try:
                self._follow()
                pause = BACKOFF_S
                continue
            except Expired:
                log.info("a view of the cluster expired: it is listed again")
            except (CannotSee, ApiException, ValueError, KeyError, TypeError, AttributeError) as error:
                log.info("a view of the cluster broke off: %s", error)
                pause = min(MOST_BACKOFF_S, 2 * pause)
            self._ending.wait(pause * random.uniform(0.5, 1.0))  # noqa: S311

    def _follow(self) -> None:
        """A list, and watches from it until the next list is due."""
        with asking():
            try:
                self._list()
                due = time.monotonic() + FULL_LIST_S
                while self._is_wanted() and time.monotonic() < due:
                    self._watch()
            except ApiException as error:
                if error.status == GONE:
                    raise Expired from error
                raise

    def _list(self) -> None:
        began = time.monotonic()
        found: dict[str, T] = {}
        version = ""
        for items, at in pages(self._fetch):
            found.update(map(self._read, items))
            version = at
        with self._lock:
            before, self._items, self._version = self._items, found, version
            self._proved_at = began
            others = {key for key in before.keys() | found.keys() if before.get(key) != found.get(key)}
            told = others if self._has_listed else set()
            self._has_listed = True
        if told:
            self._changed(told)

    def _watch(self) -> None:
        answer = self._fetch(
            watch=True, resource_version=self._version, allow_watch_bookmarks=True, timeout_seconds=WATCH_S,
            _preload_content=False, _request_timeout=(TIMEOUT_S[0], WATCH_S + FRESH_S),
        )  # fmt: skip
        with closing(answer):
            for line in _lines(answer):
                self._take(json.loads(line))
        self._proved_at = time.monotonic()  # it ended as agreed, so nothing of it is missing

    def _take(self, event: Raw) -> None:
        kind, about = event["type"], event["object"]
        if kind == "ERROR":
            if about.get("code") == GONE:
                raise Expired
            raise ValueError(str(about.get("message", ""))[:200])
        version = str(about["metadata"]["resourceVersion"])
        if _is_earlier(version, self._version):
            raise Expired
        key = ""
        with self._lock:
            if kind != "BOOKMARK":
                key, now = self._read(about)
                before = self._items.get(key)
                if kind == "DELETED":
                    self._items.pop(key, None)
                else:
                    self._items[key] = now
                    key = "" if now == before else key
            self._version, self._proved_at = version, time.monotonic()
        if key:
            self._changed([key])


def _lines(answer: Any) -> Iterator[bytes]:
    rest = b""
    for piece in answer.stream():
        *whole, rest = (rest + piece).split(b"\n")
        yield from filter(None, whole)


def _is_earlier(version: str, known: str) -> bool:
    """Versions of one collection are numbers that rise; of a server that counts otherwise nothing is concluded."""
    return version.isdecimal() and known.isdecimal() and int(version) < int(known)
