"""Properties of one scheduling pass."""

from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scheduler import (
    Amount,
    CauseCode,
    Device,
    Gang,
    GpuRequest,
    Mode,
    Node,
    Place,
    Queue,
    QueueLevel,
    Snapshot,
    Task,
    Wait,
    plan,
)
from tests.scheduler.ledger import as_running, check_capacity
from tests.scheduler.worlds import snapshots, steady

STANDING = {
    CauseCode.ZONE,
    CauseCode.CLUSTER,
    CauseCode.RESERVED,
    CauseCode.ARCH,
    CauseCode.RDMA,
    CauseCode.NO_NODES,
    CauseCode.NO_SUCH_MODEL,
    CauseCode.NO_SUCH_MODE,
    CauseCode.NEVER_FITS,
    CauseCode.NODE_UNHEALTHY,
    CauseCode.NODE_UNSCHEDULABLE,
    CauseCode.RDMA_DOWN,
    CauseCode.BAD_REQUEST,
}


def task(name: str, **fields: Any) -> Task:
    base = Task(name, "alice-lab", "research", "alice", 3, 0.0, 1000, 1024)
    return replace(base, **fields)


def card(index: int, mode: Mode = Mode.WHOLE, model: str = "A100", node: str = "n1") -> Device:
    return Device(f"{node}-{index}", index, "nvidia", model, 81920, mode)


def node(name: str = "n1", cards: int = 2, mode: Mode = Mode.WHOLE, **fields: Any) -> Node:
    made = Node(name, "east", "main", 16000, 65536, tuple(card(i, mode, node=name) for i in range(cards)))
    return replace(made, **fields)


def whole(count: int = 1) -> GpuRequest:
    return GpuRequest(Mode.WHOLE, count)


def only_wait(snapshot: Snapshot) -> Wait:
    (wait,) = plan(snapshot, 0.0).waits
    return wait


@steady
@given(snapshots())
def test_nothing_is_handed_out_twice(snapshot: Snapshot) -> None:
    check_capacity(snapshot, as_running(snapshot, plan(snapshot, 100.0), 100.0))


@steady
@given(snapshots())
def test_a_second_pass_over_what_runs_keeps_within_capacity(snapshot: Snapshot) -> None:
    first = plan(snapshot, 100.0)
    again = replace(
        snapshot,
        running=as_running(snapshot, first, 100.0),
        waiting=tuple(replace(t, id=f"again-{t.id}") for t in snapshot.waiting),
    )
    check_capacity(again, as_running(again, plan(again, 200.0), 200.0))


@steady
@given(snapshots())
def test_every_waiting_task_is_placed_or_has_one_wait(snapshot: Snapshot) -> None:
    outcome = plan(snapshot, 100.0)
    placed = {p.task_id for p in outcome.places}
    waits = [w.task_id for w in outcome.waits]
    assert len(waits) == len(set(waits))
    assert placed.isdisjoint(waits)
    assert placed | set(waits) == {t.id for t in snapshot.waiting}
    assert [w.position for w in outcome.waits] == list(range(1, len(waits) + 1))


@steady
@given(snapshots(), st.randoms())
def test_the_same_input_gives_the_same_plan(snapshot: Snapshot, random: Random) -> None:
    shuffled = list(snapshot.waiting)
    random.shuffle(shuffled)
    assert plan(snapshot, 100.0) == plan(snapshot, 100.0)
    assert plan(replace(snapshot, waiting=tuple(shuffled)), 100.0).decisions == plan(snapshot, 100.0).decisions


@steady
@given(snapshots())
def test_a_gang_of_one_node_is_on_one_node(snapshot: Snapshot) -> None:
    outcome = plan(snapshot, 100.0)
    for t in snapshot.waiting:
        if t.gang is not None and t.gang.one_node:
            assert len({place.node_id for place in outcome.places_of(t.id)}) <= 1


@steady
@given(snapshots())
def test_a_gang_holds_nothing_or_at_least_its_minimum(snapshot: Snapshot) -> None:
    outcome = plan(snapshot, 100.0)
    for t in snapshot.waiting:
        members = len(outcome.places_of(t.id))
        minimum = (t.gang.minimum or t.gang.size) if t.gang else 1
        assert members == 0 or minimum <= members <= (t.gang.size if t.gang else 1)


@steady
@given(snapshots())
def test_granting_what_the_cause_names_lets_the_task_start(snapshot: Snapshot) -> None:
    outcome = plan(snapshot, 100.0)
    running = as_running(snapshot, outcome, 100.0)
    by_id = {t.id: t for t in snapshot.waiting}
    for wait in outcome.waits:
        if wait.nearest is None:
            continue
        blocked = by_id[wait.task_id]
        granted = replace(_grant(snapshot, wait, blocked), running=running, waiting=(blocked,))
        later = plan(granted, 100.0)
        assert later.places or (blocked.gang and later.waits[0].cause != wait.cause)


def _grant(snapshot: Snapshot, wait: Wait, blocked: Task) -> Snapshot:
    """The same world with the nearest node's named shortfall added to it."""
    miss = wait.nearest
    assert miss is not None
    assert wait.cause.code not in STANDING

    def grown(n: Node) -> Node:
        if n.id != miss.node_id:
            return n
        kind = next(
            (d for d in n.devices if blocked.gpu and blocked.gpu.model in (None, d.model) and _serves(d, blocked)), None
        )
        extra = (
            tuple(replace(kind, id=f"new-{i}", index=90 + i, healthy=True) for i in range(miss.devices)) if kind else ()
        )
        return replace(
            n,
            cpu_milli=n.cpu_milli + miss.cpu_milli,
            memory_mib=n.memory_mib + miss.memory_mib,
            devices=n.devices + extra,
        )

    return replace(snapshot, nodes=tuple(grown(n) for n in snapshot.nodes))


def _serves(device: Device, blocked: Task) -> bool:
    assert blocked.gpu is not None
    return device.mode is blocked.gpu.mode or (blocked.gpu.mode is Mode.WHOLE and device.mode is Mode.VGPU)


@steady
@given(snapshots())
def test_standing_causes_name_the_check_that_leaves_no_node(snapshot: Snapshot) -> None:
    for wait in plan(snapshot, 100.0).waits:
        if wait.cause.code in STANDING and wait.funnel and len(wait.funnel) > 1 and "members" not in wait.cause.params:
            assert wait.funnel[-1].count == 0
            assert wait.funnel[-2].count > 0
        counts = [step.count for step in wait.funnel]
        assert counts == sorted(counts, reverse=True)


def test_a_task_that_can_never_fit_does_not_stall_the_queue() -> None:
    giant = task("giant", priority=5, gpu=whole(64))
    unknown = task("unknown", priority=5, gpu=GpuRequest(Mode.WHOLE, 1, "H900"))
    nonsense = task("nonsense", priority=5, gpu=whole(0))
    outcome = plan(Snapshot((node(),), waiting=(giant, unknown, nonsense, task("small", gpu=whole()))), 0.0)
    assert [p.task_id for p in outcome.places] == ["small"]
    assert {w.task_id: w.cause.code for w in outcome.waits} == {
        "giant": CauseCode.NEVER_FITS,
        "unknown": CauseCode.NO_SUCH_MODEL,
        "nonsense": CauseCode.BAD_REQUEST,
    }


def test_higher_priority_goes_first_then_age() -> None:
    waiting = (
        task("old", submitted_at=1.0, gpu=whole(2)),
        task("urgent", submitted_at=9.0, priority=5, gpu=whole(2)),
        task("older", submitted_at=0.5, gpu=whole(2)),
    )
    outcome = plan(Snapshot((node(),), waiting=waiting), 10.0)
    assert [type(d) for d in outcome.decisions] == [Place, Wait, Wait]
    assert [d.task_id for d in outcome.decisions] == ["urgent", "older", "old"]


def test_the_cause_names_node_and_deficit() -> None:
    running = plan(Snapshot((node(),), waiting=(task("first", gpu=whole()),)), 0.0)
    world = Snapshot((node(),), waiting=(task("first", gpu=whole()),))
    wait = only_wait(replace(world, running=as_running(world, running, 0.0), waiting=(task("pair", gpu=whole(2)),)))
    assert wait.cause.code is CauseCode.DEVICES
    assert (wait.cause.params["node"], wait.cause.params["devices_short"]) == ("n1", 1)


def test_a_full_quota_names_whose() -> None:
    limit = Queue(QueueLevel.USER, "alice", "alice-lab", limit=Amount(gpu_milli={"*": 1000}))
    wait = only_wait(Snapshot((node(),), waiting=(task("a", gpu=whole(2)),), queues=(limit,)))
    assert wait.cause.code is CauseCode.QUOTA
    assert (wait.cause.params["queue"], wait.cause.params["limit"], wait.cause.params["asked"]) == ("alice", 1000, 2000)


def test_a_gang_larger_than_the_cluster_says_so() -> None:
    wait = only_wait(Snapshot((node(),), waiting=(task("gang", gang=Gang(5), gpu=whole()),)))
    assert wait.cause.code is CauseCode.NEVER_FITS


def test_shared_cards_serve_one_organisation_at_a_time() -> None:
    share = GpuRequest(Mode.SHARED, 1, None, 300, 1024)
    waiting = (task("a1", gpu=share), task("a2", gpu=share), task("b1", gpu=share, organisation="bob-inc"))
    outcome = plan(Snapshot((node(cards=1, mode=Mode.SHARED),), waiting=waiting), 0.0)
    assert {p.task_id for p in outcome.places} == {"a1", "a2"}
    assert {w.task_id: w.cause.code for w in outcome.waits} == {"b1": CauseCode.SLICES}


def test_mig_partitions_use_legal_starts() -> None:
    asked = GpuRequest(Mode.MIG, 1, "A100", profile="3g.40gb")
    outcome = plan(
        Snapshot((node(cards=1, mode=Mode.MIG),), waiting=tuple(task(f"t{i}", gpu=asked) for i in range(3))), 0.0
    )
    assert sorted(p.slices[0].mig_start or 0 for p in outcome.places) == [0, 4]
    assert [w.cause.code for w in outcome.waits] == [CauseCode.SLICES]
