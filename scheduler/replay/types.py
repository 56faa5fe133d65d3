"""Input and outcome of a replay. Times in seconds on the caller's clock."""

from dataclasses import dataclass, field
from enum import StrEnum

from scheduler.replay.meter import Sample
from scheduler.types import Task


@dataclass(frozen=True, slots=True)
class Arrival:
    """A task and how long it really runs. It arrives at `task.submitted_at`, or at the replay's start if that is later.

    `run_s` is infinite if its end was not observed: once started it stays. Each start spends `startup_s` on the cards
    before the run begins or continues. `gives_up_s`: it is withdrawn if it has not started this long after its arrival.
    `carried`: it was on its cards when the replay's span began; `run_s` is its remaining time, and its wait is over.
    """

    task: Task
    run_s: float
    startup_s: float = 0.0
    gives_up_s: float | None = None
    carried: bool = False


class Fate(StrEnum):
    """How the replay left a task."""

    ENDED = "ended"
    CUT = "cut"  # on its cards when the replay stopped
    WAITING = "waiting"  # in the queue when the replay stopped
    WITHDRAWN = "withdrawn"  # given up by its owner before it started


@dataclass(frozen=True, slots=True)
class Record:
    """The outcome of one task. `started_at` is the first start (infinite if there was none), `ended_at` when it left or
    the replay stopped.

    `ran_s`: seconds that its program ran, without start-ups: what a meter counts. `held_gpu_s`: GPU-seconds of the
    cards that it held, including start-ups. Both stop with the replay. `spans`: (from, to) of its times on cards.
    """

    task: Task
    started_at: float
    ended_at: float
    evictions: int
    fate: Fate = Fate.ENDED
    arrived_at: float = 0.0
    ran_s: float = 0.0
    held_gpu_s: float = 0.0
    carried: bool = False
    spans: tuple[tuple[float, float], ...] = ()

    @property
    def wait_s(self) -> float:
        """The wait until the first start; if there was none, until it gave up or the replay stopped: a lower bound."""
        return min(self.started_at, self.ended_at) - self.arrived_at

    @property
    def completion_s(self) -> float:
        return self.ended_at - self.arrived_at


@dataclass(frozen=True, slots=True)
class Report:
    """The replay's outcome. `records` ended, in that order; `unfinished` did not, in order of arrival.

    `busy_gpu_s` is allocated GPU-seconds, `span_s` the time from first arrival to last end, or the requested span.
    """

    records: tuple[Record, ...]
    unfinished: tuple[Record, ...]
    evictions: int
    passes: int
    busy_gpu_s: float
    span_s: float
    samples: tuple[Sample, ...] = field(default=())

    @property
    def never_started(self) -> tuple[str, ...]:
        """Tasks that were in the queue when the replay stopped."""
        return tuple(record.task.id for record in self.unfinished if record.fate is Fate.WAITING)
