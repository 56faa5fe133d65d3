"""What would become of tasks that nobody has submitted: asked together, alone, and by a whole pass."""

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from scheduler import Amount, Engine, Gang, Queue, QueueLevel, Rules, Running, Snapshot, Task, Wait
from tests.scheduler.ledger import as_running
from tests.scheduler.test_cells import picture
from tests.scheduler.test_engine_told import NOW, job, node, running
from tests.scheduler.worlds import ORGANISATIONS, snapshots, steady

THEN = 1_000.0


@dataclass(frozen=True, slots=True)
class Moment:
    """A world that has begun, and tasks that somebody asks about."""

    world: Snapshot
    running: tuple[Running, ...]
    waiting: tuple[Task, ...]
    asked: tuple[Task, ...]
    queues: tuple[Queue, ...]
    promised: dict[str, tuple[str, ...]]
    rules: Rules

    def engine(self) -> Engine:
        return Engine(self.world.nodes, self.running)

    def ask(self, engine: Engine, *asked: Task) -> dict[str, Wait | None]:
        return engine.ask(self.waiting, asked, THEN, self.queues, rules=self.rules, promised=self.promised)

    def plan_with(self, task: Task) -> Wait | None:
        plan = self.engine().plan((*self.waiting, task), THEN, self.queues, rules=self.rules, promised=self.promised)
        wait = plan.wait_for(task.id)
        assert (wait is None) == bool(plan.places_of(task.id))
        return wait


@st.composite
def full_worlds(draw: st.DrawFn) -> Snapshot:
    """Machines of one model of card, and more work than they bear: who waits, waits for room."""
    machines = tuple(node(f"n{index}", draw(st.integers(1, 4))) for index in range(draw(st.integers(1, 3))))
    return Snapshot(machines, waiting=tuple(draw(jobs(f"job-{index}")) for index in range(draw(st.integers(3, 10)))))


@st.composite
def jobs(draw: st.DrawFn, name: str) -> Task:
    size = draw(st.sampled_from([0, 0, 0, 2]))
    return job(
        name,
        draw(st.sampled_from([1, 1, 2, 4])),
        organisation=draw(st.sampled_from(ORGANISATIONS)),
        user=draw(st.sampled_from(["u1", "u2"])),
        priority=draw(st.integers(1, 5)),
        submitted_at=float(draw(st.integers(0, 90))),
        gang=Gang(size, None, False) if size else None,
    )


@st.composite
def moments(draw: st.DrawFn) -> Moment:
    """Some of the tasks run, from a while ago; the first pass has promised room to some of those that wait."""
    world = draw(st.one_of(snapshots(most_tasks=10), full_worlds()))
    known = st.sampled_from([None, 600.0, 2_000.0, 86_400.0])
    everybody = [
        replace(task, preemptible=draw(st.booleans()), estimate_p50_s=(p50 := draw(known)), estimate_p90_s=p50)
        for task in world.waiting
    ]
    first = Engine(world.nodes).plan(everybody, 100.0)
    runs = as_running(replace(world, waiting=tuple(everybody)), first, 100.0)
    started = {one.task.id for one in runs}
    asked = tuple(
        replace(draw(jobs(f"asked-{index}")), submitted_at=THEN, estimate_p50_s=draw(known))
        for index in range(draw(st.integers(1, 5)))
    )
    queues = tuple(
        Queue(
            name, QueueLevel.ORGANISATION, None, guarantee=Amount(gpu_milli={"A100": draw(st.sampled_from([0, 2000]))})
        )
        for name in draw(st.lists(st.sampled_from(ORGANISATIONS), unique=True))
    )
    return Moment(
        world=world,
        running=tuple(runs),
        waiting=tuple(task for task in everybody if task.id not in started),
        asked=asked,
        queues=queues,
        promised={wait.task_id: wait.reserved_nodes for wait in first.waits if wait.reserved_nodes},
        rules=Rules(
            hold_after_s=draw(st.sampled_from([0.0, 900.0, 3600.0])),
            in_order=draw(st.integers(0, 5)) == 0,
            firm_over_guarantee=draw(st.booleans()),
        ),
    )


@steady
@given(moments())
def test_asked_together_each_is_told_what_it_is_told_alone(moment: Moment) -> None:
    together = moment.ask(moment.engine(), *moment.asked)
    assert together == {task.id: moment.ask(moment.engine(), task)[task.id] for task in moment.asked}


@steady
@given(moments())
def test_who_is_told_that_it_starts_now_is_placed_by_the_pass_that_has_it(moment: Moment) -> None:
    told = moment.ask(moment.engine(), *moment.asked)
    for task in moment.asked:
        wait, planned = told[task.id], moment.plan_with(task)
        assert (wait is None) == (planned is None)
        if wait is not None and planned is not None:
            assert _room(wait) == _room(planned)


def _room(wait: Wait) -> tuple[object, ...]:
    """What does not depend on those who come later in the queue."""
    return wait.position, wait.start_p50, wait.start_p90, wait.reserved_nodes, wait.guessed, wait.ahead


@steady
@given(moments())
def test_asking_changes_nothing(moment: Moment) -> None:
    asked, other = moment.engine(), moment.engine()
    before = picture(asked.cells)
    first = moment.ask(asked, *moment.asked)
    assert picture(asked.cells) == before
    arguments = moment.waiting, THEN, moment.queues
    assert asked.plan(*arguments, rules=moment.rules, promised=moment.promised) == other.plan(
        *arguments, rules=moment.rules, promised=moment.promised
    )
    assert moment.ask(asked, *moment.asked) == first


def test_who_would_be_asked_to_go_for_one_is_asked_for_the_next_as_well() -> None:
    engine = Engine([node()], [running(job("low", 2, priority=1), "n0", 0, 1)])
    told = engine.ask([], [job("urgent", 1, priority=5), job("pressing", 2, priority=5)], NOW)
    assert [wait.cause.code.value for wait in told.values() if wait] == ["waiting_for_victims"] * 2
    assert [preempt.task_id for preempt in engine.plan([job("urgent", priority=5)], NOW).preempts] == ["low"]


def test_who_comes_later_in_the_queue_takes_no_room_from_who_asks() -> None:
    """The organisation that holds something comes after the one that holds nothing."""
    engine = Engine([node(cards=3)], [running(job("firm", organisation="rivals", preemptible=False), "n0", 0)])
    waiting = [job("theirs", 1, organisation="rivals")]
    told = engine.ask(waiting, [job("two", 2, submitted_at=5.0), job("three", 3, submitted_at=5.0)], NOW)
    assert told["two"] is None
    assert told["three"] is not None
    assert [each.gpu.count for each in told["three"].alternatives if each.gpu] == [1]
