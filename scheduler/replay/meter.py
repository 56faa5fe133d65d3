"""Measure allocation and fragmentation over time: allocation is integrated, fragmentation sampled at bucket ends."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from scheduler.cells import Cells
from scheduler.demand import Demand, demand_of
from scheduler.mix import COVERAGE
from scheduler.overview import use_by_model
from scheduler.types import Task

MOST_DEMANDS = 40


@dataclass(frozen=True, slots=True)
class Grid:
    """The replay's span [start, end) in equal buckets."""

    start: float
    end: float
    buckets: int = 120

    @property
    def width(self) -> float:
        return (self.end - self.start) / self.buckets

    def edge(self, bucket: int) -> float:
        """Where a bucket ends."""
        return self.end if bucket + 1 >= self.buckets else self.start + (bucket + 1) * self.width


@dataclass(frozen=True, slots=True)
class Sample:
    """One bucket, in milli-cards: used on average over it; idle, fragmented and in total at its end.

    `fragment_milli` is the part of `idle_milli` on which none of the usual requests fits.
    """

    at: float
    used_milli: float
    idle_milli: int
    fragment_milli: int
    total_milli: int
    waiting: int


@dataclass(slots=True)
class Meter:
    """Measures use: call `change` when the allocation changes, and `sample` at the end of each bucket."""

    grid: Grid
    demands: tuple[Demand, ...]
    samples: list[Sample] = field(default_factory=list)
    used_milli: int = 0
    _area: float = 0.0
    _since: float = 0.0

    def __post_init__(self) -> None:
        self._since = self.grid.start

    def change(self, now: float, milli: int) -> None:
        """From now on this much more is allocated."""
        self._area += self.used_milli * (now - self._since)
        self._since = now
        self.used_milli += milli

    def sample(self, now: float, cells: Cells, waiting: int) -> None:
        """Record a sample for the bucket that ends now."""
        self.change(now, 0)
        models = use_by_model(cells, self.demands)
        idle = sum(model.idle_milli for model in models)
        used = sum(model.used_milli for model in models)
        fragments = sum(model.fragment_milli for model in models)
        width = self.grid.width
        self.samples.append(Sample(now, self._area / width if width else 0.0, idle, fragments, idle + used, waiting))
        self._area = 0.0


def usual_demands(tasks: Iterable[Task]) -> tuple[Demand, ...]:
    """The most frequent request classes with cards, until they cover 95 % of such tasks (as for the typical mix)."""
    counts = Counter(demand_of(task) for task in tasks if task.gpu is not None)
    total, covered, chosen = counts.total(), 0, []
    for demand, count in sorted(counts.items(), key=lambda item: (-item[1], repr(item[0])))[:MOST_DEMANDS]:
        if covered >= COVERAGE * total:
            break
        chosen.append(demand)
        covered += count
    return tuple(chosen)
