"""The engine between passes, and input that makes no sense."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scheduler import (
    Amount,
    CauseCode,
    Device,
    Engine,
    Gang,
    GpuRequest,
    Mode,
    Node,
    Queue,
    QueueLevel,
    Running,
    Slice,
    Snapshot,
    Task,
    plan,
)
from tests.scheduler.ledger import as_running
from tests.scheduler.test_cells import picture
from tests.scheduler.worlds import ORGANISATIONS, snapshots, steady


@steady
@given(snapshots())
def test_a_pass_changes_nothing(world: Snapshot) -> None:
    engine = Engine(world.nodes)
    before = picture(engine.cells)
    first = engine.plan(world.waiting, 100.0)
    assert picture(engine.cells) == before
    assert engine.plan(world.waiting, 100.0) == first


@steady
@given(snapshots(), st.lists(st.integers(0, 50), max_size=6))
def test_told_step_by_step_or_loaded_at_once_the_state_is_the_same(world: Snapshot, ended: list[int]) -> None:
    engine = Engine(world.nodes)
    started = as_running(world, engine.plan(world.waiting, 100.0), 100.0)
    engine.start(started)
    gone = {started[index % len(started)].task.id for index in ended} if started else set()
    for task_id in sorted(gone):
        engine.end(task_id)
    left = [member for member in started if member.task.id not in gone]
    loaded = Engine(world.nodes, left)
    assert picture(engine.cells)[:-1] == picture(loaded.cells)[:-1]
    for organisation in ORGANISATIONS:
        assert engine.accounts.shares.dominant(organisation) == loaded.accounts.shares.dominant(organisation)
    again = tuple(replace(task, id=f"again-{task.id}") for task in world.waiting)
    assert engine.plan(again, 200.0) == loaded.plan(again, 200.0)


def job(name: str, organisation: str = "alice-lab", cards: int = 1, **fields: Any) -> Task:
    base = Task(name, organisation, "", "u", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE, cards), preemptible=True)
    return replace(base, **fields)


def cards(node: str, count: int) -> tuple[Device, ...]:
    return tuple(Device(f"{node}-{i}", i, "nvidia", "A100", 81920) for i in range(count))


def holder(name: str, organisation: str, card: int) -> Running:
    return Running(job(name, organisation), name, "good", (Slice(f"good-{card}", 81920, 1000),), 0.0)


GOOD = Node("good", "east", "main", 64000, 65536, cards("good", 4))


@steady
@given(
    st.lists(st.sampled_from(ORGANISATIONS), min_size=4, max_size=4),
    st.lists(st.sampled_from(ORGANISATIONS), min_size=1, max_size=6),
)
def test_nobody_below_its_guarantee_is_kept_out_by_one_above(holding: list[str], asking: list[str]) -> None:
    """All cards are taken by pre-emptible tasks; whoever is below its promise starts, or someone is asked to go."""
    promise = Amount(gpu_milli={"A100": 1000})
    queues = tuple(
        Queue(QueueLevel.ORGANISATION, o, o, guarantee=promise) for o in ("alice-lab", "bob-inc", "charlie-co")
    )
    members = tuple(
        Running(job(f"h{i}", o), f"h{i}", "good", (Slice(f"good-{i}", 81920, 1000),), 0.0)
        for i, o in enumerate(holding)
    )
    waiting = tuple(job(f"w{i}", o, submitted_at=float(i)) for i, o in enumerate(asking))
    outcome = plan(Snapshot((GOOD,), members, waiting, queues), 5000.0)
    served = {next(t.organisation for t in waiting if t.id == p.for_task_id) for p in outcome.preempts}
    above = any(holding.count(o) > 1 for o in holding)
    for organisation in set(asking):
        if holding.count(organisation) == 0 and above:
            assert organisation in served


def test_nodes_that_report_nonsense_do_no_harm() -> None:
    odd = (
        Node("negative", "east", "main", -5, -5, cards("negative", 1)),
        Node("empty", "east", "main", 0, 0),
        Node("strange", "east", "main", 64000, 65536, (Device("strange-0", 0, "", "A100", -1, Mode.MIG),)),
        GOOD,
    )
    outcome = plan(Snapshot(odd, waiting=(job("a"), job("b", cards=4))), 0.0)
    assert [(p.task_id, p.node_id) for p in outcome.places] == [("a", "good")]
    assert outcome.waits[0].cause.code is CauseCode.DEVICES


def test_members_on_unknown_nodes_or_cards_are_left_out() -> None:
    lost = (
        Running(job("ghost"), "ghost", "no-such-node", (Slice("x", 0, 1000),), 0.0),
        Running(job("stray"), "stray", "good", (Slice("no-such-card", 0, 1000),), 0.0),
    )
    outcome = plan(Snapshot((GOOD,), lost, (job("a", cards=4),)), 0.0)
    assert [p.task_id for p in outcome.places] == ["a"]


def test_a_node_that_holds_more_than_it_has_takes_no_more() -> None:
    small = replace(GOOD, cpu_milli=500)
    over = Running(job("over"), "over", "good", (Slice("good-0", 81920, 1000),), 0.0)
    (wait,) = plan(Snapshot((small,), (over,), (job("a", cpu_milli=100),)), 0.0).waits
    assert wait.cause.code is CauseCode.CPU
    assert wait.cause.params["cpu_short_milli"] == 600


def test_contradictory_and_impossible_requests_get_a_cause_and_stall_nobody() -> None:
    odd = (
        job("mixed", gpu=GpuRequest(Mode.WHOLE, 1, "A100", any_of=("T4",)), priority=5),
        job("mig", gpu=GpuRequest(Mode.MIG, 1), priority=5),
        job("share", gpu=GpuRequest(Mode.VGPU, 1, None, 5000), priority=5),
        job("priority", priority=9),
        job("gang", gang=Gang(2, 3), priority=5),
        job("huge", gang=Gang(1000), priority=5),
        job("arch", archs=("riscv64",), priority=5),
    )
    outcome = plan(Snapshot((GOOD,), waiting=(*odd, job("fine", cards=4))), 0.0)
    assert [p.task_id for p in outcome.places] == ["fine"]
    assert {w.task_id: w.cause.code for w in outcome.waits} == {
        "mixed": CauseCode.NO_SUCH_MODEL,
        "mig": CauseCode.BAD_REQUEST,
        "share": CauseCode.BAD_REQUEST,
        "priority": CauseCode.BAD_REQUEST,
        "gang": CauseCode.BAD_REQUEST,
        "huge": CauseCode.NEVER_FITS,
        "arch": CauseCode.ARCH,
    }


def test_an_empty_cluster_says_so() -> None:
    (wait,) = plan(Snapshot((), waiting=(job("a"),)), 0.0).waits
    assert wait.cause.code is CauseCode.NO_NODES


def test_nothing_waiting_is_nothing_to_do() -> None:
    assert plan(Snapshot((GOOD,)), 0.0).decisions == ()
