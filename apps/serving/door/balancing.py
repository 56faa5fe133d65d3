"""Which replica takes a request: the one with the fewest in flight here, and none that has just refused one."""

import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from apps.serving.door.routes import Replica

AVOIDED_S = 2.0
"""A replica that refused a connection is left alone for so long, unless no other is left."""


@dataclass(slots=True)
class Balance:
    """Of one process."""

    clock: Callable[[], float] = time.monotonic
    _in_flight: Counter[UUID] = field(default_factory=Counter)
    _avoided: dict[UUID, float] = field(default_factory=dict)

    def choose(self, replicas: Sequence[Replica], tried: Collection[UUID] = ()) -> Replica | None:
        """None where all have been tried."""
        now = self.clock()
        left = [each for each in replicas if each.attempt_id not in tried]
        good = [each for each in left if self._avoided.get(each.attempt_id, 0.0) <= now]
        if not left:
            return None
        least = min(self._in_flight[each.attempt_id] for each in good or left)
        return random.choice([each for each in good or left if self._in_flight[each.attempt_id] == least])  # noqa: S311

    def avoid(self, replica: Replica) -> None:
        now = self.clock()
        self._avoided = {known: until for known, until in self._avoided.items() if until > now}
        self._avoided[replica.attempt_id] = now + AVOIDED_S

    @contextmanager
    def counted(self, replica: Replica) -> Iterator[None]:
        self._in_flight[replica.attempt_id] += 1
        try:
            yield
        finally:
            self._in_flight[replica.attempt_id] -= 1
            if not self._in_flight[replica.attempt_id]:
                del self._in_flight[replica.attempt_id]
