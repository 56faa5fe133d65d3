"""How many requests one process holds for each service, on average since it last told so.

Those that wait for a replica count, too: they are why a service needs more.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(slots=True)
class _Gauge:
    since: float
    held: int = 0
    area: float = 0.0

    def settle(self, now: float) -> None:
        self.area, self.since = self.area + self.held * (now - self.since), now


@dataclass(slots=True)
class InFlight:
    """`clock`: seconds that never go back."""

    clock: Callable[[], float] = time.monotonic
    _gauges: dict[UUID, _Gauge] = field(default_factory=dict)
    _told_at: float = field(init=False)

    def __post_init__(self) -> None:
        self._told_at = self.clock()

    @contextmanager
    def counted(self, service_id: UUID) -> Iterator[None]:
        self._change(service_id, 1)
        try:
            yield
        finally:
            self._change(service_id, -1)

    def _change(self, service_id: UUID, by: int) -> None:
        now = self.clock()
        gauge = self._gauges.setdefault(service_id, _Gauge(now))
        gauge.settle(now)
        gauge.held += by

    def take(self) -> Mapping[UUID, float]:
        """By service, the average since the last call. One that holds nothing any more is told as 0 once."""
        now = self.clock()
        span, self._told_at = now - self._told_at, now
        told = {}
        for service_id, gauge in list(self._gauges.items()):
            gauge.settle(now)
            told[service_id] = gauge.area / span if span > 0 else float(gauge.held)
            if not gauge.held and not gauge.area:
                del self._gauges[service_id]
            gauge.area = 0.0
        return told
