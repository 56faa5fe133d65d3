"""One replay: arrivals, passes, ends and evictions in order of time.

A pass runs after an event, at most once per `pass_every_s` (less often over a long queue), and while tasks wait at
least once per `look_again_s` (a task may become evictable without any event). Victims of pre-emption save during the
notice, lose no work and are requeued at the front; each new start repeats the start-up time.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

from scheduler.decisions import Plan
from scheduler.engine import Engine
from scheduler.estimate import History
from scheduler.replay.meter import Meter
from scheduler.replay.types import Arrival, Fate, Record
from scheduler.replay.usage import RecentUse
from scheduler.rules import Rules
from scheduler.shares import CPU, MEMORY, Bundle, sum_bundles
from scheduler.types import ANY_MODEL, Running, Task

Promises = dict[str, tuple[str, ...]]
Decider = Callable[[Engine, Sequence[Task], float, Promises], Plan]
Progress = Callable[[float], None]


class EventKind(IntEnum):
    """Kinds of events, in the order in which those of one instant are handled."""

    END = 0
    EVICT = 1
    GIVE_UP = 2
    ARRIVE = 3
    PASS = 4
    SAMPLE = 5


@dataclass(slots=True)
class ReplayedTask:
    """A task in the replay. `left_s` is its remaining run time, `ran_s` the time it has run."""

    arrival: Arrival
    arrived_at: float
    left_s: float
    first_start: float = math.inf
    started_at: float = 0.0
    run: int = 0
    evictions: int = 0
    bundle: Bundle = field(default_factory=dict)
    ran_s: float = 0.0
    held_gpu_s: float = 0.0
    spans: list[tuple[float, float]] = field(default_factory=list)
    on_cards: bool = False

    def stop(self, now: float, *, ended: bool = False) -> Bundle:
        """Take the task off its cards; returns what is free again."""
        held = now - self.started_at
        ran = self.left_s if ended else min(self.left_s, max(0.0, held - self.arrival.startup_s))
        self.left_s -= ran
        self.ran_s += ran
        self.held_gpu_s += self.bundle.get(ANY_MODEL, 0) / 1000 * held
        self.spans.append((self.started_at, now))
        self.on_cards = False
        return self.bundle

    def record(self, now: float, fate: Fate) -> Record:
        return Record(
            self.arrival.task, self.first_start, now, self.evictions, fate, self.arrived_at, self.ran_s,
            self.held_gpu_s, self.arrival.carried, tuple(self.spans),
        )  # fmt: skip


@dataclass(slots=True)
class Replay:
    """The state of one replay. It stops at `stop_at`, or when no event is left."""

    engine: Engine
    decide: Decider | None  # None: the platform's own rule
    history: History | None
    rules: Rules
    use: RecentUse
    meter: Meter | None = None
    start: float = -math.inf
    stop_at: float = math.inf
    pass_every_s: float = 0.0
    thin_after: float = math.inf
    look_again_s: float = math.inf
    progress: Progress | None = None
    live: dict[str, ReplayedTask] = field(default_factory=dict)
    waiting: dict[str, Task] = field(default_factory=dict)
    events: list[tuple[float, EventKind, str, int]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    withdrawn: list[Record] = field(default_factory=list)
    passes: int = 0
    next_pass: float = -math.inf
    pass_needed: bool = False
    promises: Promises = field(default_factory=dict)

    def run(self, arrivals: Iterable[Arrival]) -> None:
        carried = [self._add_arrival(arrival) for arrival in arrivals]
        if any(carried):
            self._pass(self.start)
            self.next_pass = self.start
        if self.meter is not None:
            for bucket in range(self.meter.grid.buckets):
                self._push(self.meter.grid.edge(bucket), EventKind.SAMPLE, "")
        while self.events and self.events[0][0] <= self.stop_at:
            now = self.events[0][0]
            while self.events and self.events[0][0] == now:
                _, kind, task_id, run = heapq.heappop(self.events)
                self._handle(now, kind, task_id, run)
            self._maybe_pass(now)
            if self.progress is not None:
                self.progress(now)

    def _add_arrival(self, arrival: Arrival) -> bool:
        """Add an arrival; True if the task is there from the start, before all others."""
        task = arrival.task
        at = max(task.submitted_at, self.start)
        self.live[task.id] = ReplayedTask(arrival, at, arrival.run_s)
        if arrival.carried:
            self._enqueue(replace(task, requeued=True))
            return True
        self._push(at, EventKind.ARRIVE, task.id)
        if arrival.gives_up_s is not None:
            self._push(at + arrival.gives_up_s, EventKind.GIVE_UP, task.id)
        return False

    def _push(self, at: float, kind: EventKind, task_id: str, run: int = 0) -> None:
        if at < math.inf:
            heapq.heappush(self.events, (at, kind, task_id, run))

    def _handle(self, now: float, kind: EventKind, task_id: str, run: int) -> None:
        if kind is EventKind.SAMPLE:
            if self.meter is not None:
                self.meter.sample(now, self.engine.cells, len(self.waiting))
            return
        if kind is EventKind.ARRIVE:
            self._enqueue(self.live[task_id].arrival.task)
        elif kind is EventKind.GIVE_UP:
            self._give_up(now, task_id)
        elif run != (self.passes if kind is EventKind.PASS else self.live[task_id].run):
            return  # the event belongs to an earlier pass or start
        elif kind is not EventKind.PASS:
            self._stop_task(now, task_id, ended=kind is EventKind.END)
        self.pass_needed = True

    def _enqueue(self, task: Task) -> None:
        known = self.history.predict(task) if self.history is not None else None
        if known is not None:
            task = replace(task, estimate_p50_s=known.p50_s, estimate_p90_s=known.p90_s, unproven=known.unproven)
        self.waiting[task.id] = task

    def _give_up(self, now: float, task_id: str) -> None:
        live = self.live[task_id]
        if live.first_start == math.inf:
            del self.waiting[task_id]
            self.withdrawn.append(live.record(now, Fate.WITHDRAWN))

    def _stop_task(self, now: float, task_id: str, ended: bool) -> None:
        live, task = self.live[task_id], self.live[task_id].arrival.task
        self.engine.end(task_id)
        live.run += 1
        self._record_use(task, now, live.stop(now, ended=ended), -1)
        if not ended:
            live.evictions += 1
            self._enqueue(replace(task, requeued=True))
            return
        if self.history is not None:
            self.history.record(task, live.ran_s)
        self.records.append(live.record(now, Fate.ENDED))

    def _record_use(self, task: Task, now: float, bundle: Bundle, sign: int = 1) -> None:
        self.use.change(task.organisation, now, bundle, sign)
        if self.meter is not None:
            self.meter.change(now, sign * bundle.get(ANY_MODEL, 0))

    def _maybe_pass(self, now: float) -> None:
        if not self.pass_needed or not self.waiting or now >= self.stop_at:
            return
        if now < self.next_pass:
            self._push(self.next_pass, EventKind.PASS, "", self.passes)
        else:
            self._pass(now)
        self.pass_needed = False

    def _pass(self, now: float) -> None:
        self.next_pass = now + self.pass_every_s * (1 + len(self.waiting) / self.thin_after)
        self.passes += 1
        plan = self._plan(list(self.waiting.values()), now)
        self.promises = {wait.task_id: wait.reserved_nodes for wait in plan.waits if wait.reserved_nodes}
        self._carry_out(plan, now)
        if self.waiting and self.stop_at < math.inf:
            self._push(now + self.look_again_s, EventKind.PASS, "", self.passes)

    def _plan(self, waiting: Sequence[Task], now: float) -> Plan:
        if self.decide is not None:
            return self.decide(self.engine, waiting, now, self.promises)
        return self.engine.plan(waiting, now, self.use.queues(now), rules=self.rules, promised=self.promises)

    def _carry_out(self, plan: Plan, now: float) -> None:
        started = []
        for place in plan.places:
            task = self.waiting.get(place.task_id) or self.live[place.task_id].arrival.task
            started.append(Running(task, place.task_id, place.node_id, place.slices, now, member=place.member))
        self.engine.start(started)
        members: defaultdict[str, list[Bundle]] = defaultdict(list)
        for member in started:
            cards = sum(piece.core_milli for piece in member.slices)
            members[member.task.id].append(
                {CPU: member.task.cpu_milli, MEMORY: member.task.memory_mib, ANY_MODEL: cards}
            )
        for task_id, bundles in members.items():
            self._start_task(task_id, sum_bundles(bundles), now)
        for victim in plan.preempts:
            self.engine.mark_leaving(victim.task_id, victim.for_task_id)
            self._push(now + self.rules.notice_s, EventKind.EVICT, victim.task_id, self.live[victim.task_id].run)

    def _start_task(self, task_id: str, bundle: Bundle, now: float) -> None:
        live = self.live[task_id]
        del self.waiting[task_id]
        live.started_at, live.bundle, live.on_cards = now, bundle, True
        live.first_start = min(live.first_start, now)
        self._record_use(live.arrival.task, now, bundle)
        self._push(now + live.arrival.startup_s + live.left_s, EventKind.END, task_id, live.run)

    def close(self) -> list[Record]:
        """Stop the replay and return the records of unfinished tasks, in order of arrival."""
        now, left = self.stop_at, list(self.withdrawn)
        gone = {record.task.id for record in (*self.records, *self.withdrawn)}
        for task_id, live in self.live.items():
            if task_id in gone:
                continue
            if live.on_cards:
                live.stop(now)
                left.append(live.record(now, Fate.CUT))
            elif task_id in self.waiting:
                left.append(live.record(now, Fate.WAITING))
        return sorted(left, key=lambda record: (record.arrived_at, record.task.id))
