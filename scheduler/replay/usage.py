"""Recent use of each organisation in replayed time, as the platform tracks it in real time.

For a constant rate r over an interval t with half-life H: use' = use * f + r * H / ln 2 * (1 - f), f = 2^(-t/H).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from scheduler.shares import HALF_LIFE_S
from scheduler.types import Queue, QueueLevel


@dataclass(slots=True)
class DecayedUse:
    """GPU-milli-seconds, decayed up to `at`, and the milli-cards held since then."""

    gpu_milli_s: float
    at: float
    held_milli: int = 0

    def settle(self, now: float) -> None:
        fade = 0.5 ** ((now - self.at) / HALF_LIFE_S)
        self.gpu_milli_s = self.gpu_milli_s * fade + self.held_milli * HALF_LIFE_S / math.log(2) * (1 - fade)
        self.at = now


class RecentUse:
    """The queues with each organisation's use updated, or unchanged if `kept` is False.

    Use of organisations without a queue is not tracked.
    """

    def __init__(self, queues: Sequence[Queue], start: float, *, kept: bool) -> None:
        self._queues = tuple(queues)
        followed = [q for q in queues if kept and q.level is QueueLevel.ORGANISATION]
        self._use = {q.id: DecayedUse(q.decayed_usage, start) for q in followed}

    def change(self, organisation: str, now: float, milli: int) -> None:
        use = self._use.get(organisation)
        if use is not None:
            use.settle(now)
            use.held_milli += milli

    def queues(self, now: float) -> tuple[Queue, ...]:
        if not self._use:
            return self._queues
        for use in self._use.values():
            use.settle(now)
        return tuple(
            replace(q, decayed_usage=self._use[q.id].gpu_milli_s) if q.level is QueueLevel.ORGANISATION else q
            for q in self._queues
        )
