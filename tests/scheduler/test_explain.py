"""What a waiting task is told."""

from dataclasses import replace
from typing import Any

from hypothesis import given

from scheduler import (
    Amount,
    CauseCode,
    Device,
    Engine,
    GpuRequest,
    Mode,
    Node,
    Queue,
    QueueLevel,
    Running,
    Slice,
    Snapshot,
    Task,
    Wait,
    plan,
)
from scheduler.cells import Cells, Claim
from scheduler.demand import demand_of
from scheduler.overview import use_by_model
from tests.scheduler.worlds import snapshots, steady


def node(name: str, model: str, cards: int, mode: Mode = Mode.WHOLE, **fields: Any) -> Node:
    made = tuple(Device(f"{name}-{i}", i, "nvidia", model, 81920, mode) for i in range(cards))
    return replace(Node(name, "east", "main", 16000, 65536, made), **fields)


def job(name: str, cards: int = 1, **fields: Any) -> Task:
    base = Task(name, "alice-lab", "", "alice", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE, cards))
    return replace(base, **fields)


def running(task: Task, node_id: str, cards: range) -> Running:
    return Running(task, task.id, node_id, tuple(Slice(f"{node_id}-{i}", 81920, 1000) for i in cards), 0.0)


def only(world: Snapshot, now: float = 10.0) -> Wait:
    (wait,) = plan(world, now).waits
    return wait


WORLD = (
    node("far", "H200", 8, zone="west"),
    node("down", "H200", 8, healthy=False),
    node("cordoned", "H200", 8, schedulable=False),
    node("other", "T4", 8),
    node("busy", "H200", 4),
)
ASKS = job("asks", 2, zone="east", gpu=GpuRequest(Mode.WHOLE, 2, "H200"))


def test_the_funnel_thins_out_check_by_check() -> None:
    held = running(job("held", 3), "busy", range(3))
    wait = only(Snapshot(WORLD, (held,), (ASKS,)))
    assert [(step.name, step.count) for step in wait.funnel] == [
        ("nodes", 5),
        ("zone", 4),
        ("cluster", 4),
        ("arch", 4),
        ("no_such_model", 3),
        ("no_such_mode", 3),
        ("never_fits", 3),
        ("node_unschedulable", 2),
        ("node_unhealthy", 1),
        ("cpu", 1),
        ("memory", 1),
        ("devices", 0),
    ]
    assert wait.cause.code is CauseCode.DEVICES
    assert wait.nearest is not None
    assert (wait.nearest.node_id, wait.nearest.devices, wait.nearest.nodes) == ("busy", 1, 1)


def test_an_obstacle_is_what_no_waiting_removes() -> None:
    engine = Engine(WORLD, [running(job("held", 4), "busy", range(4))])
    assert engine.obstacle(job("later", 4, gpu=GpuRequest(Mode.WHOLE, 4, "H200"))) is None
    for asked, code in (
        (job("model", gpu=GpuRequest(Mode.WHOLE, 1, "H900")), CauseCode.NO_SUCH_MODEL),
        (job("mode", gpu=GpuRequest(Mode.VGPU, 1, "H200", 500, 1024)), CauseCode.NO_SUCH_MODE),
        (job("cards", 9), CauseCode.NEVER_FITS),
        (job("memory", memory_mib=65537), CauseCode.NEVER_FITS),
        (job("zone", zone="mars"), CauseCode.ZONE),
        (job("nonsense", cpu_milli=-1), CauseCode.BAD_REQUEST),
    ):
        cause = engine.obstacle(asked)
        assert cause is not None
        assert cause.code is code, asked.id
    nowhere = Engine([]).obstacle(job("any"))
    assert nowhere is not None
    assert nowhere.code is CauseCode.NO_NODES


@steady
@given(snapshots())
def test_there_is_an_obstacle_exactly_where_empty_and_healthy_nodes_hold_no_member(world: Snapshot) -> None:
    idle = tuple(
        replace(
            node, healthy=True, schedulable=True, devices=tuple(replace(card, healthy=True) for card in node.devices)
        )
        for node in world.nodes
    )
    engine = Engine(world.nodes, world.running)
    for task in world.waiting:
        alone = replace(task, gang=None)
        starts = bool(plan(Snapshot(idle, (), (alone,)), 0.0).places)
        assert (engine.obstacle(alone) is None) == starts


def test_holders_say_who_could_give_way_and_why_not() -> None:
    base = job("x", 1, preemptible=True, estimate_p50_s=50.0, estimate_p90_s=80.0)
    members = (
        running(replace(base, id="higher", priority=4), "busy", range(1)),
        running(replace(base, id="fixed", preemptible=False, priority=1), "busy", range(1, 2)),
        running(replace(base, id="stranger", organisation="bob-inc"), "busy", range(2, 3)),
        running(replace(base, id="young", priority=1, min_runtime_s=600.0), "busy", range(3, 4)),
    )
    promised = Queue(QueueLevel.ORGANISATION, "bob-inc", "bob-inc", guarantee=Amount(gpu_milli={"H200": 4000}))
    wait = only(Snapshot(WORLD, members, (ASKS,), (promised,)))
    assert {holder.task_id: (holder.may_yield, holder.why) for holder in wait.holders} == {
        "higher": (False, "priority"),
        "fixed": (False, "not_preemptible"),
        "stranger": (False, "within_guarantee"),
        "young": (False, "min_runtime"),
    }
    assert {(holder.end_p50, holder.end_p90) for holder in wait.holders} == {(50.0, 80.0)}
    assert (wait.start_p50, wait.start_p90) == (50.0, 80.0)


def test_holders_say_who_would_give_way_where_that_is_not_enough() -> None:
    base = job("x", 1, preemptible=True, priority=1)
    members = (
        running(replace(base, id="lower"), "busy", range(1)),
        running(replace(base, id="borrower", organisation="bob-inc", priority=5), "busy", range(1, 2)),
        running(replace(base, id="fixed", preemptible=False), "busy", range(2, 3)),
        running(replace(base, id="equal", priority=3), "busy", range(3, 4)),
    )
    promised = Queue(QueueLevel.ORGANISATION, "alice-lab", "alice-lab", guarantee=Amount(gpu_milli={"H200": 6000}))
    three = replace(ASKS, gpu=GpuRequest(Mode.WHOLE, 3, "H200"))
    wait = only(Snapshot(WORLD, members, (three,), (promised,)))
    assert {holder.task_id: (holder.may_yield, holder.why) for holder in wait.holders} == {
        "lower": (True, "lower_priority"),
        "borrower": (True, "above_guarantee"),
        "fixed": (False, "not_preemptible"),
        "equal": (False, "priority"),
    }


def test_alternatives_would_start_now() -> None:
    held = running(job("held", 3), "busy", range(3))
    wait = only(Snapshot(WORLD, (held,), (ASKS,)))
    assert [(a.gpu.model, a.gpu.count, a.node_id) for a in wait.alternatives if a.gpu] == [
        ("T4", 2, "other"),
        ("H200", 1, "busy"),
    ]
    for alternative in wait.alternatives:
        changed = replace(ASKS, gpu=alternative.gpu)
        assert [p.node_id for p in plan(Snapshot(WORLD, (held,), (changed,)), 10.0).places] == [alternative.node_id]


def test_a_share_is_told_what_the_best_card_is_short_of() -> None:
    world = (node("n", "A100", 1, Mode.VGPU),)
    asks = job("asks", gpu=GpuRequest(Mode.VGPU, 1, None, 500, 40960))
    taken = Running(job("first"), "first", "n", (Slice("n-0", 51200, 300),), 0.0)
    wait = only(Snapshot(world, (taken,), (asks,)))
    assert wait.cause.code is CauseCode.SLICES
    assert wait.nearest is not None
    assert (wait.nearest.core_milli, wait.nearest.device_memory_mib) == (0, 10240)


def test_a_template_of_a_vendor_sets_compute_and_memory() -> None:
    world = (node("npu", "910B3", 1, Mode.VGPU, arch="aarch64"),)
    asks = job("asks", gpu=GpuRequest(Mode.VGPU, 1, "910B3", 1, 0, "vir10_3c_32g"))
    (place,) = plan(Snapshot(world, waiting=(asks,)), 0.0).places
    assert place.slices == (Slice("npu-0", 32768, 500),)


def test_compute_gone_but_memory_left_counts_as_a_fragment_of_no_use() -> None:
    cells = Cells([node("n", "A100", 2, Mode.VGPU), node("off", "A100", 1, healthy=False)])
    cells.take(Claim(0, 0, 0, (Slice("n-0", 1024, 900),), "alice-lab"))
    package = demand_of(job("package", gpu=GpuRequest(Mode.VGPU, 1, None, 250, 20480)))
    (line,) = use_by_model(cells, [package])
    assert (line.cards, line.used_milli, line.idle_milli, line.fragment_milli) == (3, 900, 1100, 100)
    assert (line.offline_cards, line.most_whole) == (1, 1)


def test_one_class_of_a_long_queue_is_explained_once() -> None:
    queue = tuple(replace(ASKS, id=f"t{i}", submitted_at=float(i)) for i in range(500))
    waits = plan(Snapshot(WORLD, (), queue), 10.0).waits
    assert len({id(wait.funnel) for wait in waits}) == 1
    assert [wait.position for wait in waits] == list(range(1, 499))


def test_a_cause_names_all_that_was_asked_for() -> None:
    asked = GpuRequest(Mode.MIG, 2, any_of=("H900", "H901"), profile="1g.10gb")
    cause = Engine(WORLD).obstacle(job("asks", gpu=asked, zone="east", cluster="main", archs=("x86_64", "aarch64")))
    assert cause is not None
    assert dict(cause.params) == {
        "cpu_milli": 1000,
        "memory_mib": 1024,
        "zone": "east",
        "cluster": "main",
        "arch": "x86_64|aarch64",
        "model": "H900|H901",
        "mode": Mode.MIG.value,
        "devices": 2,
        "profile": "1g.10gb",
    }


def test_the_most_whole_cards_are_those_of_one_node() -> None:
    cells = Cells([node("two", "A100", 2), node("three", "A100", 3), node("off", "A100", 8, healthy=False)])
    (line,) = use_by_model(cells, [])
    assert (line.cards, line.most_whole) == (13, 3)
