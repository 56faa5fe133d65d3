"""Passes what is published (`apps.common.live`) on to the open pages of this process.

One subscription to Redis for each process, whatever the number of its pages. What befalls a group is gathered for
`PAUSE_S` after each time it was told, so a page hears of the first change at once and of a burst four times a second.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import redis.asyncio as aioredis
from django.conf import settings
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from apps.common.live import REDIS_CHANNEL, RIGHTS_CHANGED, TIMEOUT_S

log = logging.getLogger(__name__)

Message = dict[str, Any]
PAUSE_S = 0.25
# More than that at once are told as "anything may have changed".
MOST_AT_ONCE = 200
# So many pages are told in one turn of the event loop: requests have theirs in between, every few milliseconds.
SLICE = 25
READY_S = 3.0
HEALTH_CHECK_S = 10
# How many pages of one group may ask for themselves in a second, when a message only says that they should.
ASKING_PER_S = 25


class Batch:
    """What befell a group since it was last told. `frame` is made once for all who may see the same."""

    def __init__(self, group: str, messages: list[Message], watching: int) -> None:
        self.group, self.messages = group, messages
        # Seconds over which the pages that must ask the server spread their questions.
        self.spread_s = round(watching / ASKING_PER_S, 1)
        self._frames: dict[Hashable, str] = {}
        self._concerned: dict[Hashable, bool] = {}

    @property
    def is_overflow(self) -> bool:
        return len(self.messages) > MOST_AT_ONCE

    def frame(self, audience: Hashable, make: Callable[["Batch"], str]) -> str:
        if audience not in self._frames:
            self._frames[audience] = make(self)
        return self._frames[audience]

    def concerns(self, audience: Hashable, sees: Callable[[Message], bool]) -> bool:
        """Whether there may be a message that this audience `sees`: asked once for all of it."""
        if audience not in self._concerned:
            self._concerned[audience] = self.is_overflow or any(map(sees, self.messages))
        return self._concerned[audience]


class Listener(Protocol):
    """An open page. Its methods are called in the event loop and do not wait."""

    def hear(self, batch: Batch) -> None: ...

    def doubt_rights(self) -> None:
        """The person's rights have changed: say nothing more before they were checked."""

    def miss(self) -> None:
        """Messages may have been lost."""


class Topic:
    """The pages that listen to a group, and what they will be told next."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.listeners: set[Listener] = set()
        self._pending: dict[tuple[Any, ...], Message] = {}
        # What it does next; None while it is quiet.
        self._next: asyncio.Handle | None = None

    def take(self, message: Message) -> None:
        """At once if the group was quiet; with what else comes within `PAUSE_S` otherwise. The last state wins."""
        key = (message.get("id") or None, message.get("workload"), message.get("kind"), message.get("about"))
        self._pending.pop(key, None)  # to the end of the line
        self._pending[key] = message
        if self._next is None:
            self._tell()

    def _tell(self) -> None:
        self._next = None
        if not self._pending:
            return
        batch = Batch(self.group, list(self._pending.values()), len(self.listeners))
        self._pending = {}
        self._tell_some(batch, iter(tuple(self.listeners)))

    def _tell_some(self, batch: Batch, left: Iterator[Listener]) -> None:
        loop, some = asyncio.get_running_loop(), tuple(islice(left, SLICE))
        if len(some) == SLICE:
            self._next = loop.call_soon(self._tell_some, batch, left)
        else:
            self._next = loop.call_later(PAUSE_S, self._tell)
        for listener in some:
            if listener in self.listeners:  # it may have left meanwhile
                listener.hear(batch)

    def close(self) -> None:
        if self._next is not None:
            self._next.cancel()


class Hub:
    """The groups that pages of this event loop listen to. Works while there is one."""

    def __init__(self) -> None:
        self._topics: dict[str, Topic] = {}
        self._task: asyncio.Task[None] | None = None
        self._subscribed = asyncio.Event()
        self._was_subscribed = False
        self._pubsub: PubSub | None = None

    async def join(self, group: str, listener: Listener) -> None:
        """From here on `listener` hears what is published to `group`; without Redis, as soon as that is back."""
        self._topics.setdefault(group, Topic(group)).listeners.add(listener)
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        try:
            async with asyncio.timeout(READY_S):
                await self._subscribed.wait()
        except TimeoutError:
            log.warning("a page does not hear of changes yet: Redis does not answer")

    def leave(self, group: str, listener: Listener) -> None:
        topic = self._topics.get(group)
        if topic is None:
            return
        topic.listeners.discard(listener)
        if not topic.listeners:
            topic.close()
            del self._topics[group]
        if not self._topics and self._task is not None:
            self._task.cancel()
            self._task = None
            self._subscribed, self._was_subscribed = asyncio.Event(), False

    async def _listen(self) -> None:
        while True:
            try:
                await self._subscription()
            except (RedisError, OSError) as error:
                log.warning("live messages are not heard: %s", error)
                await asyncio.sleep(1)
            finally:
                self._subscribed.clear()

    async def _subscription(self) -> None:
        client = aioredis.Redis.from_url(
            settings.REDIS_URL, socket_connect_timeout=TIMEOUT_S, health_check_interval=HEALTH_CHECK_S, retry=None
        )
        async with client, client.pubsub() as pubsub:
            self._pubsub = pubsub
            await pubsub.subscribe(REDIS_CHANNEL)
            while True:
                received = await pubsub.get_message(timeout=HEALTH_CHECK_S)
                if received is None:
                    continue
                if received["type"] == "subscribe":
                    self._begin()
                elif received["type"] == "message":
                    self._deliver(json.loads(received["data"]))

    def _begin(self) -> None:
        """The library may also have connected again by itself: whatever was published meanwhile is lost."""
        self._subscribed.set()
        if not self._was_subscribed:
            self._was_subscribed = True
            return
        for listener in {listener for topic in self._topics.values() for listener in topic.listeners}:
            listener.miss()

    def _deliver(self, message: Message) -> None:
        for group in message.pop("groups"):
            topic = self._topics.get(group)
            if topic is None:
                continue
            if message["type"] == RIGHTS_CHANGED:  # before whatever else the group is told
                for listener in tuple(topic.listeners):
                    listener.doubt_rights()
            else:
                topic.take(message)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop: a web process has one."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]
