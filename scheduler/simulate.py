"""Replay arrivals against nodes, queues and rules: the what-if engine. Drives the same `Engine` as the platform.

Time is simulated. A pass runs when something has happened, at most once per `pass_every_s`. Victims of pre-emption save
during the notice, lose nothing, and queue again first.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from scheduler.decisions import Plan
from scheduler.engine import Engine
from scheduler.estimate import History
from scheduler.mix import mix_of
from scheduler.rules import DEFAULT_RULES, Rules
from scheduler.types import Mix, Node, Queue, Running, Task

Promises = dict[str, tuple[str, ...]]
Decider = Callable[[Engine, Sequence[Task], float, Promises], Plan]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A task and how long it will really run, in seconds. It arrives at `task.submitted_at`."""

    task: Task
    run_s: float


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one task. Times in seconds; `started_at` is the first start."""

    task: Task
    started_at: float
    ended_at: float
    evictions: int

    @property
    def wait_s(self) -> float:
        return self.started_at - self.task.submitted_at

    @property
    def completion_s(self) -> float:
        return self.ended_at - self.task.submitted_at


@dataclass(frozen=True, slots=True)
class Report:
    """The replay's outcome. `busy_gpu_s` is GPU-seconds handed out, `span_s` first arrival to last end."""

    records: tuple[Record, ...]
    never_started: tuple[str, ...]
    evictions: int
    passes: int
    busy_gpu_s: float
    span_s: float


class Kind(IntEnum):
    END = 0
    EVICT = 1
    ARRIVE = 2
    PASS = 3


@dataclass(slots=True)
class Live:
    """A task in the replay. `left_s` is what it has still to run."""

    arrival: Arrival
    left_s: float
    first_start: float | None = None
    started_at: float = 0.0
    run: int = 0
    evictions: int = 0
    gpu_milli: int = 0


@dataclass(slots=True)
class Replay:
    """The state of one replay."""

    engine: Engine
    decide: Decider
    history: History | None
    rules: Rules
    pass_every_s: float
    live: dict[str, Live] = field(default_factory=dict)
    waiting: dict[str, Task] = field(default_factory=dict)
    events: list[tuple[float, Kind, str, int]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    passes: int = 0
    busy_gpu_s: float = 0.0
    next_pass: float = float("-inf")
    pass_due: bool = False
    promises: Promises = field(default_factory=dict)

    def run(self, arrivals: Iterable[Arrival]) -> None:
        for arrival in arrivals:
            self.live[arrival.task.id] = Live(arrival, arrival.run_s)
            self._push(arrival.task.submitted_at, Kind.ARRIVE, arrival.task.id)
        while self.events:
            now = self.events[0][0]
            while self.events and self.events[0][0] == now:
                _, kind, task_id, run = heapq.heappop(self.events)
                self._happen(now, kind, task_id, run)
            self._maybe_pass(now)

    def _push(self, at: float, kind: Kind, task_id: str, run: int = 0) -> None:
        heapq.heappush(self.events, (at, kind, task_id, run))

    def _happen(self, now: float, kind: Kind, task_id: str, run: int) -> None:
        if kind is Kind.ARRIVE:
            self._enqueue(self.live[task_id].arrival.task)
        elif kind is not Kind.PASS and self.live[task_id].run == run:
            self._leave(now, task_id, ended=kind is Kind.END)

    def _enqueue(self, task: Task) -> None:
        known = self.history.estimate(task) if self.history is not None else None
        if known is not None:
            task = replace(task, estimate_p50_s=known[0], estimate_p90_s=known[1])
        self.waiting[task.id] = task

    def _leave(self, now: float, task_id: str, ended: bool) -> None:
        live = self.live[task_id]
        self.engine.end(task_id)
        live.run += 1
        ran = now - live.started_at
        live.left_s -= ran
        self.busy_gpu_s += live.gpu_milli / 1000 * ran
        task = live.arrival.task
        if not ended:
            live.evictions += 1
            self._enqueue(replace(task, requeued=True))
            return
        if self.history is not None:
            self.history.ended(task, live.arrival.run_s)
        first = live.first_start if live.first_start is not None else now
        self.records.append(Record(task, first, now, live.evictions))

    def _maybe_pass(self, now: float) -> None:
        if not self.waiting:
            return
        if now < self.next_pass:
            if not self.pass_due:
                self._push(self.next_pass, Kind.PASS, "")
                self.pass_due = True
            return
        self.pass_due = False
        self.next_pass = now + self.pass_every_s
        self.passes += 1
        plan = self.decide(self.engine, list(self.waiting.values()), now, self.promises)
        self.promises = {wait.task_id: wait.reserved_nodes for wait in plan.waits if wait.reserved_nodes}
        self._carry_out(plan, now)

    def _carry_out(self, plan: Plan, now: float) -> None:
        started = []
        for place in plan.places:
            task = self.waiting.get(place.task_id) or self.live[place.task_id].arrival.task
            started.append(Running(task, place.task_id, place.node_id, place.slices, now, member=place.member))
        self.engine.start(started)
        for task_id in dict.fromkeys(place.task_id for place in plan.places):
            self._begin(task_id, sum(p.core_milli for m in started if m.task.id == task_id for p in m.slices), now)
        for victim in plan.preempts:
            self.engine.leaving(victim.task_id, victim.for_task_id)
            self._push(now + self.rules.notice_s, Kind.EVICT, victim.task_id, self.live[victim.task_id].run)

    def _begin(self, task_id: str, gpu_milli: int, now: float) -> None:
        live = self.live[task_id]
        del self.waiting[task_id]
        live.started_at, live.gpu_milli = now, gpu_milli
        live.first_start = now if live.first_start is None else live.first_start
        self._push(now + live.left_s, Kind.END, task_id, live.run)


def by_plan(queues: Sequence[Queue], rules: Rules) -> Decider:
    """The platform's own rule."""
    return lambda engine, waiting, now, promised: engine.plan(waiting, now, queues, rules=rules, promised=promised)


def simulate(
    nodes: Sequence[Node],
    arrivals: Sequence[Arrival],
    queues: Sequence[Queue] = (),
    rules: Rules = DEFAULT_RULES,
    history: History | None = None,
    mix: Mix | None = None,
    pass_every_s: float = 0.0,
    decide: Decider | None = None,
) -> Report:
    """Replay to the end. With a `history`, estimates are learned as tasks end; without, those of the tasks count."""
    engine = Engine(nodes, mix=mix or mix_of(arrival.task for arrival in arrivals))
    replay = Replay(engine, decide or by_plan(queues, rules), history, rules, pass_every_s)
    replay.run(arrivals)
    first = min((arrival.task.submitted_at for arrival in arrivals), default=0.0)
    last = max((record.ended_at for record in replay.records), default=first)
    evictions = sum(live.evictions for live in replay.live.values())
    left = tuple(replay.waiting)
    return Report(tuple(replay.records), left, evictions, replay.passes, replay.busy_gpu_s, last - first)
