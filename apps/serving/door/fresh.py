"""What the door has read of the database lately: asked at most once a second for each key, by all requests together."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

log = logging.getLogger(__name__)

FRESH_S = 1.0
# The database may be away for a while without a service being away.
BLIND_S = 300.0
MOST_KNOWN = 10_000

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")


@dataclass(slots=True)
class _Known(Generic[Found]):
    found: Found | None
    asked_at: float


@dataclass(slots=True)
class Fresh(Generic[Key, Found]):
    """Of one process. `ask` reads the database; None: there is no such thing."""

    ask: Callable[[Key], Awaitable[Found | None]]
    fresh_s: float = FRESH_S
    _known: dict[Key, _Known[Found]] = field(default_factory=dict)
    _asking: dict[Key, "asyncio.Task[Found | None]"] = field(default_factory=dict)

    async def get(self, key: Key) -> Found | None:
        """Requests that come together share one look. Raises what `ask` raises once it has been away for long."""
        known = self._known.get(key)
        if known is not None and time.monotonic() - known.asked_at < self.fresh_s:
            return known.found
        task = self._asking.get(key)
        if task is None:
            task = self._asking[key] = asyncio.create_task(self._ask(key))
            task.add_done_callback(lambda _done: self._asking.pop(key, None))
        try:
            return await asyncio.shield(task)
        except Exception:
            if known is None or time.monotonic() - known.asked_at > BLIND_S:
                raise
            log.warning("what was known before goes on", exc_info=True)
            return known.found

    async def _ask(self, key: Key) -> Found | None:
        asked_at = time.monotonic()
        found = await self.ask(key)
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[key] = _Known(found, asked_at)
        return found
