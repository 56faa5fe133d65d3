"""What the engine keeps between passes: told step by step or loaded at once, it decides the same."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from scheduler import (
    Amount,
    Device,
    Engine,
    Gang,
    GpuRequest,
    Mode,
    Node,
    Plan,
    Queue,
    QueueLevel,
    Rules,
    Running,
    Snapshot,
    Task,
)
from tests.scheduler.ledger import check_capacity
from tests.searching import examples

ORGANISATIONS = ("alice-lab", "bob-inc", "charlie-co")
NODES = tuple(
    Node(f"n{n}", "z", "c", 32000, 65536, tuple(Device(f"n{n}-{i}", i, "", "A100", 81920, mode) for i in range(4)))
    for n, mode in enumerate((Mode.WHOLE, Mode.WHOLE, Mode.VGPU))
)
REQUESTS = (
    None,
    GpuRequest(Mode.WHOLE, 1),
    GpuRequest(Mode.WHOLE, 2),
    GpuRequest(Mode.WHOLE, 4),
    GpuRequest(Mode.VGPU, 1, None, 300, 8192),
)
RULES = Rules(patience=0.5, hold_after_s=300.0, reservations=3)

counts = st.integers(0, 4)


def queues(guarantees: Sequence[int], weights: Sequence[int], limit: int | None, deep: bool) -> tuple[Queue, ...]:
    top = tuple(
        Queue(
            QueueLevel.ORGANISATION,
            o,
            o,
            weight=float(weight),
            guarantee=Amount(gpu_milli={"A100": 1000 * cards}),
            limit=Amount(gpu_milli={"*": 1000 * limit}) if limit is not None and o == "alice-lab" else Amount(),
        )
        for o, cards, weight in zip(ORGANISATIONS, guarantees, weights, strict=True)
    )
    tree = (Queue(QueueLevel.DEPARTMENT, "text", "alice-lab", "nlp"), Queue(QueueLevel.DEPARTMENT, "nlp", "alice-lab"))
    return top + (tree if deep else ())


class KeptEngine(RuleBasedStateMachine):
    """Submissions, passes, ends, evictions, checkpoints and changed quotas, in any order."""

    @initialize()
    def begin(self) -> None:
        self.now, self.number = 1000.0, 0
        self.engine = Engine(NODES)
        self.waiting: dict[str, Task] = {}
        self.running: dict[str, list[Running]] = {}
        self.queues: tuple[Queue, ...] = ()
        self.promised: dict[str, tuple[str, ...]] = {}

    @rule(
        organisation=st.sampled_from(ORGANISATIONS),
        department=st.sampled_from(["", "nlp", "text"]),
        gpu=st.sampled_from(REQUESTS),
        priority=st.integers(1, 5),
        run=st.sampled_from([None, 50.0, 400.0]),
        gang=st.sampled_from([None, None, Gang(2), Gang(3, 1), Gang(2, one_node=True)]),
        preemptible=st.booleans(),
    )
    def submit(
        self,
        organisation: str,
        department: str,
        gpu: GpuRequest | None,
        priority: int,
        run: float | None,
        gang: Gang | None,
        preemptible: bool,
    ) -> None:
        self.number += 1
        name = f"t{self.number:03d}"
        task = Task(name, organisation, department, f"u{self.number % 2}", priority, self.now, 2000, 2048, gpu)
        p90 = None if run is None else run * 2
        task = replace(task, estimate_p50_s=run, estimate_p90_s=p90, gang=gang, preemptible=preemptible)
        self.waiting[name] = task

    @rule(seconds=st.sampled_from([0.0, 1.0, 60.0, 400.0]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    @rule(guarantees=st.tuples(counts, counts, counts), limit=st.none() | st.integers(1, 6), deep=st.booleans())
    def change_queues(self, guarantees: tuple[int, int, int], limit: int | None, deep: bool) -> None:
        self.queues = queues(guarantees, [1 + guarantees[0], 2, 1], limit, deep)

    @rule(index=st.integers(0, 20))
    def give_up(self, index: int) -> None:
        if self.waiting:
            del self.waiting[sorted(self.waiting)[index % len(self.waiting)]]

    @rule(index=st.integers(0, 20))
    def end(self, index: int) -> None:
        if self.running:
            task_id = sorted(self.running)[index % len(self.running)]
            self.engine.end(task_id)
            del self.running[task_id]

    @rule(index=st.integers(0, 20))
    def save(self, index: int) -> None:
        if self.running:
            task_id = sorted(self.running)[index % len(self.running)]
            self.engine.record_checkpoint(task_id, self.now)
            self.running[task_id] = [replace(m, last_checkpoint_at=self.now) for m in self.running[task_id]]

    @rule()
    def carry_out_a_pass(self) -> None:
        outcome = self._plan(self.engine)
        for place in outcome.places:
            task = self.waiting[place.task_id]
            name = f"{task.id}-{place.member}"
            member = Running(task, name, place.node_id, place.slices, self.now, member=place.member)
            self.running.setdefault(task.id, []).append(member)
            self.engine.start([member])
        for task_id in {place.task_id for place in outcome.places}:
            del self.waiting[task_id]
        for gone in outcome.preempts:
            self.engine.mark_leaving(gone.task_id, gone.for_task_id)
            self.running[gone.task_id] = [replace(m, held_for=gone.for_task_id) for m in self.running[gone.task_id]]
        self.promised = {w.task_id: w.reserved_nodes for w in outcome.waits if w.reserved_nodes}

    def _plan(self, engine: Engine, rules: Rules = RULES) -> Plan:
        waiting = list(self.waiting.values())
        return engine.plan(waiting, self.now, self.queues, rules=rules, promised=self.promised)

    def _members(self) -> list[Running]:
        """In another order than they were started in."""
        return [member for task_id in sorted(self.running, reverse=True) for member in self.running[task_id]]

    @invariant()
    def decides_as_one_that_was_loaded_at_once(self) -> None:
        """Restart gives the same state; and nothing of the pass is left behind: asked again, the same answer."""
        kept = self._plan(self.engine)
        assert kept == self._plan(Engine(NODES, self._members()))
        assert kept == self._plan(self.engine)

    @invariant()
    def hands_nothing_out_twice(self) -> None:
        check_capacity(Snapshot(NODES), tuple(self._members()))

    @invariant()
    def no_task_both_starts_and_goes(self) -> None:
        outcome = self._plan(self.engine)
        assert not {p.task_id for p in outcome.places} & {p.task_id for p in outcome.preempts}
        assert all(preempt.task_id in self.running for preempt in outcome.preempts)

    @invariant()
    def starts_the_same_whether_or_not_it_has_to_explain(self) -> None:
        told, silent = self._plan(self.engine), self._plan(self.engine, replace(RULES, explain=False))
        assert told.places == silent.places
        assert told.preempts == silent.preempts


KeptEngine.TestCase.settings = settings(
    deadline=None, derandomize=True, max_examples=examples(25), stateful_step_count=20
)
TestKeptEngine = KeptEngine.TestCase
