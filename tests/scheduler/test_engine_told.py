"""What the engine is told between passes, and what its allocator hands out."""

from dataclasses import replace
from typing import Any

import pytest

from scheduler import (
    Amount,
    CauseCode,
    Device,
    Engine,
    Gang,
    GpuRequest,
    MigProfile,
    Mode,
    Node,
    Queue,
    QueueLevel,
    Rules,
    Running,
    Slice,
    Snapshot,
    Task,
    allocator,
    plan,
)
from scheduler import engine as engine_module
from scheduler.allocator import Allocator, partition_slice
from scheduler.cells import Cells, Claim
from scheduler.demand import demand_of
from scheduler.gangs import gang_fits_empty_cluster, members_that_fit
from scheduler.scorers import ByPotential

NOW = 10_000.0


def node(name: str = "n0", cards: int = 2, **fields: Any) -> Node:
    devices = tuple(Device(f"{name}-{i}", i, "nvidia", "A100", 81920) for i in range(cards))
    return replace(Node(name, "east", "main", 64_000, 655_360, devices), **fields)


def job(name: str, cards: int = 1, **fields: Any) -> Task:
    base = Task(name, "lab", "", "alice", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE, cards), preemptible=True)
    return replace(base, **fields)


def running(task: Task, on: str, *cards: int, **fields: Any) -> Running:
    slices = tuple(Slice(f"{on}-{card}", 81920, 1000) for card in cards)
    return replace(Running(task, f"{task.id}@{on}", on, slices, NOW - 1000), **fields)


def asked(engine: Engine) -> list[str]:
    return [each.task_id for each in engine.plan([job("urgent", priority=5)], NOW).preempts]


def test_a_checkpoint_that_was_told_makes_a_task_cheaper_to_ask() -> None:
    first, second = job("first", priority=1), job("second", priority=1)
    engine = Engine([node()], [running(first, "n0", 0), running(second, "n0", 1, started_at=NOW - 500)])
    assert asked(engine) == ["second"]
    engine.record_checkpoint("first", NOW - 10)
    engine.record_checkpoint("unknown", NOW)
    assert asked(engine) == ["first"]
    assert engine.checkpoints == {"first": NOW - 10}


def test_a_checkpoint_ends_with_its_task() -> None:
    first, second = running(job("first", priority=1), "n0", 0), running(job("second", priority=1), "n0", 1)
    engine = Engine([node()], [replace(first, last_checkpoint_at=NOW - 10), second])
    assert asked(engine) == ["first"]
    engine.end("first")
    engine.end("unknown")
    assert engine.checkpoints == {}
    engine.start([first])
    engine.record_checkpoint("second", NOW - 20)
    assert asked(engine) == ["second"]


def test_who_is_on_the_way_out_is_not_asked_again_and_its_place_is_kept() -> None:
    engine = Engine([node(cards=1)], [running(job("low", priority=1), "n0", 0)])
    assert asked(engine) == ["low"]
    engine.mark_leaving("low", "urgent")
    outcome = engine.plan([job("urgent", priority=5)], NOW)
    assert not outcome.preempts
    assert outcome.waits[0].cause.code is CauseCode.WAITING_FOR_VICTIMS
    engine.end("low")
    assert [place.task_id for place in engine.plan([job("urgent", priority=5)], NOW).places] == ["urgent"]


def test_an_obstacle_is_named_before_anything_waits() -> None:
    engine = Engine([node()], [running(job("low"), "n0", 0, 1)])
    assert engine.obstacle(job("fits", 2)) is None
    for impossible in (job("many", 3), job("unknown", gpu=GpuRequest(Mode.WHOLE, 1, "H900")), job("odd", priority=9)):
        assert engine.obstacle(impossible) is not None


def test_a_snapshot_is_decided_with_all_that_it_says() -> None:
    """Limits of queues, nodes that were emptied for one, and members_per_row that were promised."""
    limit = Queue(QueueLevel.ORGANISATION, "lab", "lab", limit=Amount(gpu_milli={"*": 0}))
    world = Snapshot((node(cards=1),), waiting=(job("older"), job("later", submitted_at=1.0)))
    assert [place.task_id for place in plan(world, NOW).places] == ["older"]
    assert [w.cause.code for w in plan(replace(world, queues=(limit,)), NOW).waits] == [CauseCode.QUOTA] * 2
    held = replace(world, holds={"later": ("n0",)})
    assert [place.task_id for place in plan(held, NOW).places] == ["later"]


def test_without_explanations_a_wait_names_its_place_and_its_reserved_nodes() -> None:
    until = {"estimate_p50_s": NOW + 60, "estimate_p90_s": NOW + 60}
    held = Running(job("held", **until), "held", "n0", (Slice("n0-0", 81920, 1000),), 0.0)
    world = Snapshot((node(cards=1),), (held,), (job("waits"),))
    (wait,) = plan(world, NOW, Rules(explain=False)).waits
    assert (wait.task_id, wait.cause.code, wait.funnel) == ("waits", CauseCode.BEHIND_RESERVATION, ())
    assert (wait.position, wait.reserved_nodes) == (1, ("n0",))


def test_forgetting_classes_that_came_first_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = Cells([node(), node("n1", 4)])
    demands = [demand_of(job("t", cards)) for cards in (1, 2, 3, 4, 1, 2)]
    roomy = Allocator(cells, ByPotential(cells, None))
    expected = [roomy.best_claim(demand, "lab") for demand in demands]
    monkeypatch.setattr(allocator, "MOST_COLUMNS", 2)
    tight = Allocator(cells, ByPotential(cells, None))
    tight.warm(demands[:3])
    assert [tight.best_claim(demand, "lab") for demand in demands] == expected
    assert len(tight._columns) == 2
    assert tight.column(demands[1]) is tight.column(demands[1])


def test_who_no_longer_waits_is_forgotten_every_so_many_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "FORGET_EVERY", 2)
    engine = Engine([node(cards=0)])

    def known_after(waits: str) -> set[str]:
        engine.plan([job(waits)], NOW)
        return set(engine.catalogue._entries)

    assert known_after("first") == {"first"}
    assert known_after("second") == {"second"}
    assert known_after("third") == {"second", "third"}
    assert known_after("fourth") == {"fourth"}


def test_claims_are_taken_back_last_first() -> None:
    cells = Cells([node()])
    one = Allocator(cells, ByPotential(cells, None))
    claims = []
    for _each in range(2):
        claim = one.best_claim(demand_of(job("t")), "lab")
        assert claim is not None
        one.commit(claim)
        claims.append(claim)
    assert [piece.device_id for claim in claims for piece in claim.slices] == ["n0-0", "n0-1"]
    assert one.best_claim(demand_of(job("t")), "lab") is None
    one.undo(claims)
    assert one.best_claim(demand_of(job("t", 2)), "lab") == Claim(
        0, 1000, 1024, (Slice("n0-0", 81920, 1000), Slice("n0-1", 81920, 1000)), "lab"
    )


def test_shares_of_several_cards_go_to_the_fullest_first_whole_cards_by_index() -> None:
    shared = tuple(Device(f"n0-{i}", i, "nvidia", "A100", 81920, Mode.SHARED) for i in range(3))
    cells = Cells([node(devices=shared)])
    for card, used in ((1, 700), (2, 300)):
        cells.take(Claim(0, 0, 0, (Slice(f"n0-{card}", 0, used),), "lab"))
    one = Allocator(cells, ByPotential(cells, None))
    wanted = job("t", gpu=GpuRequest(Mode.SHARED, 2, core_milli=250, memory_mib=10))
    claim = one.best_claim(demand_of(wanted), "lab")
    assert claim is not None
    assert claim.slices == (Slice("n0-1", 10, 250), Slice("n0-2", 10, 250))
    larger = one.best_claim(demand_of(replace(wanted, gpu=GpuRequest(Mode.SHARED, 2, core_milli=500))), "lab")
    assert larger is not None
    assert [piece.device_id for piece in larger.slices] == ["n0-2", "n0-0"]


def test_a_partition_has_its_profiles_memory_and_its_part_of_the_compute() -> None:
    half = MigProfile("half", (0, 4), 4, 3, 40960, 2)
    full = MigProfile("full", (0,), 8, 6, 81920, 1)
    card = Device("c", 0, "nvidia", "A100", 81920, Mode.MIG, mig_profiles=(half, full))
    assert partition_slice(card, "half", 4) == Slice("c", 40960, 500, 4, "half")
    assert partition_slice(card, "full", 0) == Slice("c", 81920, 1000, 0, "full")
    assert partition_slice(card, "gone", 2) == Slice("c", 81920, 1000, 2, "gone")


def test_members_are_counted_as_they_would_be_placed() -> None:
    cells = Cells([node(cards=5), node("n1", 2, cpu_milli=1500)])
    assert [members_that_fit(cells, 0, demand_of(job("t", 2)), most) for most in (0, 1, 9)] == [0, 1, 2]
    assert members_that_fit(cells, 1, demand_of(job("t")), 9) == 1


def test_a_gang_fits_an_empty_cluster_only_within_one_zone_and_logical_cluster() -> None:
    demand = demand_of(job("t", 2))

    def fits(least: int, **second: Any) -> bool:
        cells = Cells([node(), node("n1", 4, **second)])
        cells.take(Claim(0, 64_000, 0, (Slice("n0-0", 81920, 1000),), "other"))
        return gang_fits_empty_cluster(cells, demand, least, cells.open)

    assert [fits(least) for least in (1, 3, 4)] == [True, True, False]
    assert [fits(least, zone="west") for least in (2, 3)] == [True, False]
    assert [fits(least, cluster="lab") for least in (2, 3)] == [True, False]
    assert [fits(least, healthy=False) for least in (1, 2)] == [True, False]


def test_a_gang_starts_whole_or_elastic_with_as_many_as_fit() -> None:
    world = Snapshot((node(), node("n1", 3)), waiting=(job("gang", gang=Gang(6)),))
    assert not plan(world, NOW).places
    elastic = replace(world, waiting=(job("gang", gang=Gang(6, 2)),))
    assert len(plan(elastic, NOW).places) == 5
    small = replace(world, waiting=(job("gang", gang=Gang(3)),))
    assert {place.node_id for place in plan(small, NOW).places} == {"n1"}


def test_plans_of_one_moment_agree_with_those_of_a_new_engine_whatever_is_told_between_them() -> None:
    """What a plan computes of who runs is kept for the next one of the same moment, until anything changes."""
    nodes = [node("n0"), node("n1")]
    runs = {
        name: running(job(name, priority=priority), on, card, started_at=NOW - since)
        for name, priority, on, card, since in (
            ("first", 1, "n0", 0, 900),
            ("second", 2, "n0", 1, 700),
            ("third", 1, "n1", 0, 800),
            ("fourth", 1, "n1", 1, 600),
        )
    }
    kept = Engine(nodes, runs.values())
    asks = [
        (job("urgent", priority=5),),
        (job("wide", 2, priority=5),),
        (job("late", priority=1), job("urgent", priority=5)),
    ]

    def agree(now: float = NOW) -> None:
        for waiting in (*asks, *reversed(asks)):
            fresh = Engine(nodes, runs.values())
            for name, at in checkpoints.items():
                fresh.record_checkpoint(name, at)
            assert kept.plan(waiting, now) == fresh.plan(waiting, now)

    checkpoints: dict[str, float] = {}
    agree()
    checkpoints["third"] = NOW - 5
    kept.record_checkpoint("third", NOW - 5)
    agree()
    del runs["fourth"]
    kept.end("fourth")
    agree()
    runs["fifth"] = running(job("fifth", priority=1), "n1", 1, started_at=NOW - 650)
    kept.start([runs["fifth"]])
    agree()
    agree(NOW + 60)
