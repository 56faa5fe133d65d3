"""The queue never stands still: what fits now and delays nobody with a known start runs, and every task starts at last.

The machine feeds an engine with its own promises, pass after pass, as the platform does. Whether a task would delay
another is worked out here on single nodes over time, without the timeline that the engine uses.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from scheduler import (
    Amount,
    CauseCode,
    Engine,
    Gang,
    GpuRequest,
    Mode,
    Node,
    Queue,
    QueueLevel,
    Rules,
    Running,
    Snapshot,
    Task,
    Wait,
)
from scheduler.demand import demand_of, least_members
from scheduler.host import host_of
from tests.scheduler.delays import delays_somebody
from tests.scheduler.ledger import check_capacity
from tests.scheduler.test_liveness import node
from tests.searching import examples

ORGANISATIONS = ("alice-lab", "bob-inc")
NEVER = {CauseCode.NEVER_FITS, CauseCode.NO_SUCH_MODEL, CauseCode.NO_SUCH_MODE, CauseCode.BAD_REQUEST}
HELD = 600.0
MOST_PASSES = 40
REQUESTS = (
    None,
    None,
    GpuRequest(Mode.WHOLE, 1),
    GpuRequest(Mode.WHOLE, 2),
    GpuRequest(Mode.SHARED, 1, None, 300, 8192),
    GpuRequest(Mode.VGPU, 1, None, 500, 16384),
    GpuRequest(Mode.VGPU, 2, None, 300, 8192),
    GpuRequest(Mode.MIG, 1, profile="1g.10gb"),
    GpuRequest(Mode.MIG, 1, profile="3g.40gb"),
)
WORLDS = (
    (node("vm", 2),),
    (node("vm", 4), node("vn", 3, memory_gib=5)),
    (node("g0", 8, Mode.WHOLE, Mode.WHOLE, Mode.WHOLE), node("g1", 4, Mode.VGPU, Mode.VGPU, Mode.MIG)),
    (node("g0", 6, Mode.WHOLE, Mode.WHOLE), node("g1", 6, Mode.WHOLE, Mode.WHOLE), node("s", 3, Mode.SHARED, Mode.MIG)),
)


class Queueing(RuleBasedStateMachine):
    """People submit, stop and change priority, machines go and come back, and time passes, in any order."""

    @initialize(
        world=st.sampled_from(WORLDS),
        few=st.booleans(),
        limit=st.sampled_from([None, None, 3000]),
        guarantee=st.sampled_from([None, None, 2000]),
    )
    def begin(self, world: tuple[Node, ...], few: bool, limit: int | None, guarantee: int | None) -> None:
        self.now, self.number, self.nodes = 1000.0, 0, world
        self.rules = Rules(reservations=2) if few else Rules()
        self.engine = Engine(world)
        self.waiting: dict[str, Task] = {}
        self.running: dict[str, list[Running]] = {}
        self.ends: dict[str, float] = {}
        self.moves: list[Any] = []
        self.lasts: dict[str, float] = {}
        self.promised: dict[str, tuple[str, ...]] = {}
        self.emptied: dict[str, tuple[float, tuple[str, ...]]] = {}
        self.waits: dict[str, Wait] = {}
        most = Amount(cpu_milli=limit) if limit else Amount()
        least = Amount(gpu_milli={"A100": guarantee}) if guarantee else Amount()
        organisation = QueueLevel.ORGANISATION
        self.queues = (
            Queue(organisation, "alice-lab", "alice-lab", limit=most),
            Queue(organisation, "bob-inc", "bob-inc", guarantee=least),
        )

    @rule(
        cores=st.integers(1, 3),
        gpu=st.sampled_from(REQUESTS),
        organisation=st.sampled_from(ORGANISATIONS),
        priority=st.sampled_from([3, 3, 1, 5]),
        told=st.sampled_from([None, None, 60.0, 600.0, 7200.0]),
        factor=st.sampled_from([0.2, 1.0, 3.0]),
        gang=st.sampled_from([None, None, None, Gang(2), Gang(3, 2), Gang(2, one_node=True)]),
        preemptible=st.booleans(),
        copies=st.integers(1, 3),
    )
    def submit(
        self,
        cores: int,
        gpu: GpuRequest | None,
        organisation: str,
        priority: int,
        told: float | None,
        factor: float,
        gang: Gang | None,
        preemptible: bool,
        copies: int,
    ) -> None:
        for _ in range(copies):
            self.number += 1
            name = f"t{self.number:03d}"
            self.waiting[name] = Task(
                name, organisation, "", f"u{self.number % 2}", priority, self.now, cores * 1000, 2048, gpu, gang=gang,
                preemptible=preemptible, estimate_p50_s=told, estimate_p90_s=told and told * 2, unproven=priority < 3,
            )  # fmt: skip
            self.lasts[name] = (told or 300.0) * factor
        self.settle()

    @precondition(lambda self: self.waiting)
    @rule(index=st.integers(0, 20), priority=st.integers(1, 5))
    def change_priority(self, index: int, priority: int) -> None:
        name = sorted(self.waiting)[index % len(self.waiting)]
        self.waiting[name] = replace(self.waiting[name], priority=priority)
        self.settle()

    @precondition(lambda self: self.waiting)
    @rule(index=st.integers(0, 20))
    def give_up(self, index: int) -> None:
        del self.waiting[sorted(self.waiting)[index % len(self.waiting)]]
        self.settle()

    @precondition(lambda self: self.running)
    @rule(index=st.integers(0, 20))
    def stop(self, index: int) -> None:
        self._end(sorted(self.running)[index % len(self.running)])
        self.settle()

    @rule(seconds=st.sampled_from([3.0, 300.0, 4000.0, 30000.0]))
    def pass_time(self, seconds: float) -> None:
        self._advance(self.now + seconds)
        self.settle()

    @rule(index=st.integers(0, 3))
    def lose_a_machine(self, index: int) -> None:
        """It is silent, and what ran there goes back into the queue; the next time it is heard again."""
        at = index % len(self.nodes)
        lost = replace(self.nodes[at], healthy=not self.nodes[at].healthy)
        self.nodes = (*self.nodes[:at], lost, *self.nodes[at + 1 :])
        if not lost.healthy:
            for name, members in list(self.running.items()):
                if any(member.node_id == lost.id for member in members):
                    del self.running[name], self.ends[name]
                    self.waiting[name] = replace(members[0].task, requeued=True)
        self.engine = Engine(self.nodes, [member for members in self.running.values() for member in members])
        self.settle()

    def teardown(self) -> None:
        """Nobody comes any more, all machines are back: everything that can ever run does."""
        if not hasattr(self, "engine"):
            return
        self.nodes = tuple(replace(one, healthy=True) for one in self.nodes)
        self.engine = Engine(self.nodes, [member for members in self.running.values() for member in members])
        self.settle()
        for _ in range(2 * (len(self.waiting) + len(self.running)) + 2):
            if not self.running:
                break
            self._advance(min(self.ends.values()))
            self.settle()
        assert not self.running
        assert [task.id for task in self.waiting.values() if self._possible(task)] == []

    def settle(self) -> None:
        """Passes, each fed with the promises of the one before, until nothing moves; then nobody may wait in vain."""
        for _ in range(MOST_PASSES):
            if not self._pass():
                break
        else:
            raise AssertionError(f"passes never come to rest {self.moves[-6:]}{self._picture()}")
        self._check()

    def _pass(self) -> bool:
        waiting, holds = list(self.waiting.values()), self._holds()
        outcome = self.engine.plan(waiting, self.now, self.queues, holds, self.rules, self.promised)
        for place in outcome.places:
            task = self.waiting[place.task_id]
            member = Running(
                task, f"{task.id}-{place.member}", place.node_id, place.slices, self.now, member=place.member
            )
            self.running.setdefault(task.id, []).append(member)
            self.engine.start([member])
            self.ends[task.id] = self.now + self.lasts[task.id]
        for name in {place.task_id for place in outcome.places}:
            del self.waiting[name]
        for gone in outcome.preempts:  # leaves at once, and queues again
            members = self.running[gone.task_id]
            nodes = self.emptied.get(gone.for_task_id, (0.0, ()))[1]
            self.emptied[gone.for_task_id] = self.now, (*nodes, *(member.node_id for member in members))
            self._end(gone.task_id)
            self.waiting[gone.task_id] = replace(members[0].task, requeued=True)
        self.moves.append(  # for the message of a machine that never comes to rest
            (
                [(p.task_id, p.node_id) for p in outcome.places],
                [(p.task_id, p.for_task_id, p.why) for p in outcome.preempts],
            )
        )
        self.waits = {wait.task_id: wait for wait in outcome.waits}
        self.promised = {wait.task_id: wait.reserved_nodes for wait in outcome.waits if wait.reserved_nodes}
        return bool(outcome.places or outcome.preempts)

    def _holds(self) -> dict[str, tuple[str, ...]]:
        """What was emptied for somebody stays his for a while, as on the platform."""
        kept = {n: (at, nodes) for n, (at, nodes) in self.emptied.items() if n in self.waiting and self.now - at < HELD}
        self.emptied = kept
        return {name: nodes for name, (_, nodes) in kept.items()}

    def _end(self, name: str) -> None:
        self.engine.end(name)
        del self.running[name], self.ends[name]

    def _advance(self, until: float) -> None:
        """Runs end when they do, and each end has its pass."""
        while self.ends and min(self.ends.values()) <= until:
            name = min(self.ends, key=lambda one: (self.ends[one], one))
            self.now = max(self.now, self.ends[name])
            self._end(name)
            self._pass()
        self.now = max(self.now, until)

    def _possible(self, task: Task) -> bool:
        """Whether it would start if it were alone."""
        return bool(Engine(self.nodes).plan([task], self.now, self.queues).places)

    def _fits_now(self, task: Task) -> bool:
        """Whether it would start if nobody else waited."""
        members = [member for members in self.running.values() for member in members]
        return bool(Engine(self.nodes, members).plan([task], self.now, self.queues).places)

    def _check(self) -> None:
        members = tuple(member for members in self.running.values() for member in members)
        check_capacity(Snapshot(self.nodes), members)
        if not self._may_hold():
            waiting, waits = list(self.waiting.values()), list(self.waits.values())
            assert not self.engine.standing_still(waiting, waits, self.now), self._picture()
        for name, wait in self.waits.items():
            task = self.waiting[name]
            if wait.cause.code in NEVER | {CauseCode.QUOTA} or not self._possible(task):
                continue
            if not self.running:
                raise AssertionError(f"{name} waits beside an empty cluster{self._picture()}")
            if self._may_hold():
                continue
            if self._fits_now(task) and not any(w.reserved_nodes for w in self.waits.values() if w is not wait):
                raise AssertionError(f"{name} would fit now, and nobody has room kept{self._picture()}")
            if least_members(task) == 1:
                for row in self._rows(task):
                    if not delays_somebody(self.engine, row, self.now, task, tuple(self.waits.values()), self.waiting):
                        raise AssertionError(f"{name} would fit on row {row} now{self._picture()}")

    def _picture(self) -> str:
        """All that waits, for whoever has to find out why."""
        waits = (
            f"{_words(self.waiting[w.task_id])}: {w.cause.code}, kept {w.reserved_nodes} at {w.start_p50}"
            for w in self.waits.values()
        )
        runs = (
            f"{_words(m.task)} on {m.node_id} {m.slices} since {m.started_at}"
            for ms in self.running.values()
            for m in ms
        )
        return "".join(f"\n  {line}" for line in (f"{self.now}", *waits, *runs))

    def _may_hold(self) -> bool:
        """Whether somebody has waited so long that free room is kept without a known start."""
        kept = [self.waiting[wait.task_id] for wait in self.waits.values() if wait.reserved_nodes]
        return any(self.now - task.submitted_at > self.rules.hold_after_s for task in kept)

    def _rows(self, task: Task) -> Iterator[int]:
        """Where one member of it fits as things are."""
        kind = self.engine.allocator.column(demand_of(task)).kind
        for row in range(len(self.nodes)):
            if kind.allowed[row] and host_of(self.engine.cells, row).fits(demand_of(task)) is not None:
                yield row


def _words(task: Task) -> str:
    gpu = task.gpu and f"{task.gpu.mode}x{task.gpu.count} {task.gpu.profile or task.gpu.core_milli}"
    gang = task.gang and f"gang {task.gang.size}/{task.gang.minimum}"
    known = f"p50 {task.estimate_p50_s}" if task.estimate_p50_s else "no end"
    marks = "yields" if task.preemptible else "firm"
    return f"{task.id} {task.organisation} p{task.priority} {task.cpu_milli}m {gpu} {gang} {known} {marks}"


TestQueueing = Queueing.TestCase
TestQueueing.settings = settings(
    deadline=None, derandomize=True, max_examples=examples(300), stateful_step_count=20, phases=[Phase.generate]
)
