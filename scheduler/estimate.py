"""How long tasks run, learned from those that ended: p50 and p90 by the most specific group with enough history."""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from scheduler.mix import gpu_milli
from scheduler.types import Task

KEEP = 200
ENOUGH = 10


@dataclass(slots=True)
class Sample:
    """The last KEEP durations of one group, also in order of size."""

    recent: deque[float] = field(default_factory=deque)
    ordered: list[float] = field(default_factory=list)

    def add(self, seconds: float) -> None:
        self.recent.append(seconds)
        insort(self.ordered, seconds)
        if len(self.recent) > KEEP:
            del self.ordered[bisect_left(self.ordered, self.recent.popleft())]

    def quantile(self, q: float, above: float = 0.0) -> float:
        """The q-quantile among durations longer than `above`; a little more than `above` when there is none."""
        start = bisect_left(self.ordered, above)
        left = self.ordered[start:]
        return left[min(len(left) - 1, int(q * len(left)))] if left else above * 1.25


@dataclass(slots=True)
class History:
    """Durations by (organisation, user, size), (organisation, size), (size) and all."""

    groups: dict[Hashable, Sample] = field(default_factory=dict)

    def ended(self, task: Task, seconds: float) -> None:
        """A task ran to its end in this many seconds."""
        for key in _keys(task):
            self.groups.setdefault(key, Sample()).add(seconds)

    def estimate(self, task: Task, elapsed_s: float = 0.0) -> tuple[float, float] | None:
        """(p50, p90) of the whole run in seconds, given that it has run for `elapsed_s`; None without history."""
        for key in _keys(task):
            sample = self.groups.get(key)
            if sample is not None and len(sample.recent) >= ENOUGH:
                return sample.quantile(0.5, elapsed_s), sample.quantile(0.9, elapsed_s)
        return None


def _keys(task: Task) -> Iterator[Hashable]:
    size = gpu_milli(task.gpu) * (task.gang.size if task.gang else 1)
    yield task.organisation, task.user, size
    yield task.organisation, size
    yield size
    yield None
