"""Who may pass, asked of the database at most every few seconds for each cookie, and again while connections last."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.gateway.hosts import Address
from apps.workloads.gateway.passes import Visitor
from apps.workloads.gateway.targets import State, Target

log = logging.getLogger(__name__)

FRESH_S = 5.0
# What does not listen yet is looked at again sooner.
WAITING_FRESH_S = 1.0
RECHECK_S = 12.0
# The database may be away for a while without open connections being cut; nobody new gets in meanwhile.
BLIND_S = 300.0


@dataclass(frozen=True, slots=True)
class Key:
    """A cookie (its digest) on a host."""

    digest: str
    address: Address


@dataclass(frozen=True, slots=True)
class Admission:
    key: Key
    visitor: Visitor
    target: Target


Ask = Callable[[Key], Awaitable[Admission | None]]


@dataclass(slots=True)
class _Known:
    admission: Admission
    asked_at: float
    led_to: Endpoint | None
    """Where connections that may still be open were led."""


@dataclass(slots=True)
class Admissions:
    """`ask` reads the database. Holds open connections, and ends them when a later answer is no."""

    ask: Ask
    recheck_s: float = RECHECK_S
    fresh_s: float = FRESH_S
    _known: dict[Key, _Known] = field(default_factory=dict)
    _asking: dict[Key, asyncio.Task[Admission | None]] = field(default_factory=dict)
    _held: dict[Key, set[asyncio.Future[None]]] = field(default_factory=dict)

    async def get(self, key: Key) -> Admission | None:
        """The admission for a key; requests that come together share one look. Raises what `ask` raises."""
        known = self._known.get(key)
        if known is not None:
            fresh_s = self.fresh_s if known.admission.target.state is State.READY else WAITING_FRESH_S
            if time.monotonic() - known.asked_at < min(fresh_s, self.fresh_s):
                return known.admission
        task = self._asking.get(key)
        if task is None:
            task = self._asking[key] = asyncio.create_task(self._ask(key))
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(task)

    def forget(self, key: Key) -> None:
        """Ask again next time: what was known turned out to be wrong."""
        self._known.pop(key, None)

    @contextmanager
    def held(self, key: Key) -> Iterator[asyncio.Future[None]]:
        """While a connection is open: a future that is done once its person may no longer enter."""
        revoked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._held.setdefault(key, set()).add(revoked)
        try:
            yield revoked
        finally:
            self._held[key].discard(revoked)
            if not self._held[key]:
                del self._held[key]

    async def recheck_forever(self) -> None:
        while True:
            await asyncio.sleep(self.recheck_s)
            await asyncio.gather(*(self._recheck(key) for key in list(self._held)))
            long_ago = time.monotonic() - 2 * BLIND_S
            self._known = {key: known for key, known in self._known.items() if known.asked_at > long_ago}

    async def _ask(self, key: Key) -> Admission | None:
        asked_at = time.monotonic()
        admission = await self.ask(key)
        if admission is None:
            self._known.pop(key, None)
            self._revoke(key)
        else:
            before, target = self._known.get(key), admission.target
            led_to = before.led_to if before is not None else None
            left = led_to is not None and _has_left(led_to, target)
            self._known[key] = _Known(admission, asked_at, target.endpoint if left else target.endpoint or led_to)
            if left:
                self._revoke(key)
        return admission

    async def _recheck(self, key: Key) -> None:
        known = self._known.get(key)
        try:
            await self._ask(key)
        except Exception:
            log.warning("permissions could not be read", exc_info=True)
            if known is None or time.monotonic() - known.asked_at > BLIND_S:
                self._revoke(key)

    def _revoke(self, key: Key) -> None:
        for revoked in self._held.get(key, ()):
            if not revoked.done():
                revoked.set_result(None)


def _has_left(led_to: Endpoint, now: Target) -> bool:
    """Whether the try there has ended: the work ended for good, waits for a machine, or runs on another one.

    A machine that cannot be asked for a while says nothing about that.
    """
    return now.state in (State.ENDED, State.WAITING) or (now.state is State.READY and now.endpoint != led_to)
