"""Estimate run times from ended tasks, and from what their owners say of those to come.

Without a statement: p50 and p90 of the most specific group with enough history. A statement is corrected by how its
owner's, their organisation's or everybody's earlier ones turned out: quantiles of the ratio of what it took to what was
said, mixed with IMAGINED ratios that a few real ones outvote. So there is an estimate from the first task on.

Statements are often wrong, and a short one would pay off if it let a task run in front of others. Until ENOUGH of them
have turned out, p90 is therefore at least that of the history, and where there is none the task counts as `unproven`:
its end is shown, but nothing is decided by it. A limit needs no such proof: it is p90 until more is known.
"""

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from scheduler.mix import gpu_milli
from scheduler.types import Task

KEEP = 200
ENOUGH = 10
# What tasks take of the time that was said, before any is known: half of them at most all of it, one in ten twice.
IMAGINED = (0.25, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6, 2.0)


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
        """The q-quantile among durations longer than `above`; 1.25 times `above` when there is none."""
        start = bisect_left(self.ordered, above)
        left = self.ordered[start:]
        return left[min(len(left) - 1, int(q * len(left)))] if left else above * 1.25


@dataclass(frozen=True, slots=True)
class Prediction:
    """p50 and p90 of a whole run in seconds. `unproven`: as `Task.unproven`."""

    p50_s: float
    p90_s: float
    unproven: bool = False


@dataclass(slots=True)
class History:
    """Durations by (organisation, user, size), (organisation, size), (size) and all.

    `ratios`: what tasks took of the time that was stated, by (organisation, user), (organisation) and all.
    """

    groups: dict[Hashable, Sample] = field(default_factory=dict)
    ratios: dict[Hashable, Sample] = field(default_factory=dict)

    def record(self, task: Task, seconds: float) -> None:
        """Record that a task ran to its end in this many seconds."""
        for key in _keys(task):
            self.groups.setdefault(key, Sample()).add(seconds)
        if task.stated_s:
            for key in _statement_keys(task):
                self.ratios.setdefault(key, Sample()).add(seconds / task.stated_s)

    def predict(self, task: Task, elapsed_s: float = 0.0) -> Prediction | None:
        """What its owner says and what is known, given that it has run for `elapsed_s`; None where there is neither."""
        known = self.estimate(task, elapsed_s)
        found = Prediction(*known) if known is not None else None
        if task.stated_s:
            found = self._stated(task, task.stated_s, elapsed_s, known)
        if task.limit_s is None or elapsed_s >= task.limit_s:
            return found
        if found is None:
            return Prediction(task.limit_s, task.limit_s)
        p90 = task.limit_s if found.unproven else min(found.p90_s, task.limit_s)
        return Prediction(min(found.p50_s, task.limit_s), p90)

    def _stated(self, task: Task, stated_s: float, elapsed_s: float, known: tuple[float, float] | None) -> Prediction:
        turned_out = self._ratios(task)
        mixed = Sample(ordered=sorted((*IMAGINED, *turned_out)))
        p50, p90 = (stated_s * mixed.quantile(q, elapsed_s / stated_s) for q in (0.5, 0.9))
        if len(turned_out) >= ENOUGH:
            return Prediction(p50, p90)
        return Prediction(p50, p90, unproven=True) if known is None else Prediction(p50, max(p90, known[1]))

    def _ratios(self, task: Task) -> list[float]:
        """Those of the most specific group with enough of them, or all that there are."""
        found: list[float] = []
        for key in _statement_keys(task):
            sample = self.ratios.get(key)
            found = sample.ordered if sample is not None else []
            if len(found) >= ENOUGH:
                break
        return found

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


def _statement_keys(task: Task) -> Iterator[Hashable]:
    yield task.organisation, task.user
    yield task.organisation
    yield None
