"""Recent use of each organisation in replayed time, as the platform tracks it in real time.

For a constant rate r over an interval t with half-life H: use' = use * f + r * H / ln 2 * (1 - f), f = 2^(-t/H).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from scheduler.shares import HALF_LIFE_S, Bundle
from scheduler.types import Queue, QueueLevel


@dataclass(slots=True)
class DecayedUse:
    """Resource-seconds by resource, decayed up to `at`, and what has been held since then."""

    used: dict[str, float]
    at: float
    held: Bundle = field(default_factory=dict)

    def settle(self, now: float) -> None:
        fade = 0.5 ** ((now - self.at) / HALF_LIFE_S)
        added = HALF_LIFE_S / math.log(2) * (1 - fade)
        self.used = {
            resource: self.used.get(resource, 0.0) * fade + self.held.get(resource, 0) * added
            for resource in self.used.keys() | self.held.keys()
        }
        self.at = now


class RecentUse:
    """The queues with each organisation's use updated, or unchanged if `kept` is False.

    Use of organisations without a queue is not tracked.
    """

    def __init__(self, queues: Sequence[Queue], start: float, *, kept: bool) -> None:
        self._queues = tuple(queues)
        followed = [q for q in queues if kept and q.level is QueueLevel.ORGANISATION]
        self._use = {q.id: DecayedUse(dict(q.decayed_usage), start) for q in followed}

    def change(self, organisation: str, now: float, bundle: Mapping[str, int], sign: int = 1) -> None:
        """Something starts to be held, or with `sign` -1 no longer is."""
        use = self._use.get(organisation)
        if use is not None:
            use.settle(now)
            for resource, amount in bundle.items():
                use.held[resource] = use.held.get(resource, 0) + sign * amount

    def queues(self, now: float) -> tuple[Queue, ...]:
        if not self._use:
            return self._queues
        for use in self._use.values():
            use.settle(now)
        return tuple(
            replace(q, decayed_usage=self._use[q.id].used) if q.level is QueueLevel.ORGANISATION else q
            for q in self._queues
        )
