"""Tasks that have waited too long hold what is free; nobody below its guarantee is kept out by that."""

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
    Rules,
    Running,
    Slice,
    Snapshot,
    Task,
    plan,
)
from scheduler.simulate import Arrival, simulate
from tests.scheduler.ledger import as_running
from tests.scheduler.worlds import steady

HOUR = 3600.0
NOW = 100 * HOUR
RULES = Rules(hold_after_s=6 * HOUR, reservations=0)
ORGANISATIONS = ("alice-lab", "bob-inc", "charlie-co")


def nodes(count: int, cards: int = 4) -> tuple[Node, ...]:
    return tuple(
        Node(f"n{n}", "z", "c", 64000, 65536, tuple(Device(f"n{n}-{i}", i, "", "A100", 0) for i in range(cards)))
        for n in range(count)
    )


def job(name: str, cards: int, waited_h: float = 0.0, **fields: Any) -> Task:
    base = Task(name, "alice-lab", "", "alice", 3, NOW - waited_h * HOUR, 1000, 1024, GpuRequest(Mode.WHOLE, cards))
    return replace(base, **fields)


def busy(node: str, cards: int, **fields: Any) -> Running:
    task = job(f"busy-{node}", cards, **fields)
    return Running(task, task.id, node, tuple(Slice(f"{node}-{card}", 0, 1000) for card in range(cards)), NOW - HOUR)


def started(world: Snapshot, rules: Rules = RULES) -> list[str]:
    return sorted({place.task_id for place in plan(world, NOW, rules).places})


def test_free_cards_are_held_for_one_that_has_waited_too_long_however_short_the_others_are() -> None:
    short = job("short", 1, estimate_p50_s=1.0, estimate_p90_s=1.0)
    for waited, begin in ((7.0, []), (5.0, ["short"])):
        wide = job("wide", 4, waited)
        assert started(Snapshot(nodes(1), (busy("n0", 2),), (wide, short))) == begin


def test_what_it_could_not_use_is_not_held() -> None:
    wide, cpu_only = job("wide", 4, 7.0), job("cpu", 1, gpu=None)
    assert started(Snapshot(nodes(1), (busy("n0", 2),), (wide, cpu_only))) == ["cpu"]


def test_other_nodes_stay_open() -> None:
    wide, short = job("wide", 4, 7.0), job("short", 1)
    assert started(Snapshot(nodes(2), (busy("n0", 2), busy("n1", 3)), (wide, short))) == ["short"]


def test_no_more_tasks_hold_than_the_rules_allow() -> None:
    wide = tuple(job(f"wide{i}", 4, 9.0 - i) for i in range(3))
    world = Snapshot(nodes(3), tuple(busy(f"n{n}", 2) for n in range(3)), (*wide, job("short", 1)))
    assert started(world, replace(RULES, holds=3)) == []
    assert started(world, replace(RULES, holds=2)) == ["short"]


def test_a_held_node_stays_the_same_from_pass_to_pass() -> None:
    soon, later = busy("n0", 3, estimate_p50_s=2 * HOUR), busy("n1", 2, estimate_p50_s=20 * HOUR)
    wide = job("wide", 4, 7.0)
    world = Snapshot(nodes(2), (soon, later), (wide,))
    for promised in ("n0", "n1"):
        (wait,) = plan(replace(world, promised={"wide": (promised,)}), NOW, RULES).waits
        assert wait.reserved_nodes == (promised,)


def test_a_gang_holds_on_all_its_nodes() -> None:
    gang = job("gang", 4, 7.0, gang=Gang(2))
    world = Snapshot(nodes(2), (busy("n0", 2), busy("n1", 2)), (gang, job("short", 1)))
    assert started(world) == []
    assert plan(world, NOW, RULES).waits[1].cause.code is CauseCode.BEHIND_RESERVATION


def test_a_stream_of_small_tasks_does_not_starve_a_large_one_without_any_prediction() -> None:
    small = [Arrival(job(f"s{i:03d}", 1, -i / 4), HOUR) for i in range(100)]
    wide = Arrival(job("wide", 4, -0.5), HOUR)
    held = {r.task.id: r for r in simulate(nodes(1), [*small, wide], rules=RULES).records}
    never = {r.task.id: r for r in simulate(nodes(1), [*small, wide], rules=replace(RULES, holds=0)).records}
    assert held["wide"].wait_s <= 8 * HOUR
    assert never["wide"].wait_s > 12 * HOUR


@st.composite
def crowded(draw: st.DrawFn) -> Snapshot:
    """Some cards are free; tasks of all ages wait; some have had a promise before."""
    world = nodes(draw(st.integers(1, 3)))
    running = []
    for node in world:
        for card in range(draw(st.integers(0, 4))):
            task = job(f"{node.id}-r{card}", 1, organisation=draw(st.sampled_from(ORGANISATIONS)))
            running.append(Running(task, task.id, node.id, (Slice(f"{node.id}-{card}", 0, 1000),), NOW - HOUR))
    waiting = tuple(
        job(
            f"w{i}",
            draw(st.integers(1, 4)),
            float(draw(st.sampled_from([0, 1, 7, 30]))),
            organisation=draw(st.sampled_from(ORGANISATIONS)),
            priority=draw(st.integers(1, 5)),
            estimate_p50_s=draw(st.sampled_from([None, HOUR, 10 * HOUR])),
        )
        for i in range(draw(st.integers(1, 6)))
    )
    queues = tuple(
        Queue(QueueLevel.ORGANISATION, o, o, guarantee=Amount(gpu_milli={"A100": 1000 * draw(st.integers(0, 6))}))
        for o in ORGANISATIONS
    )
    promised = {w.id: (draw(st.sampled_from(world)).id,) for w in waiting if draw(st.booleans())}
    return Snapshot(world, tuple(running), waiting, queues, promised=promised)


@steady
@given(crowded())
def test_nobody_below_its_guarantee_with_a_fitting_task_waits_for_one_above(world: Snapshot) -> None:
    """If it would fit into what is left and stay inside its promise, only one of its own or one inside is before it."""
    outcome = plan(world, NOW, Rules(hold_after_s=6 * HOUR))
    after = as_running(world, outcome, NOW)
    left = Engine(world.nodes, after)
    by_id = {task.id: task for task in world.waiting}
    cards = {o: sum(len(m.slices) for m in after if m.task.organisation == o) for o in ORGANISATIONS}
    promise = {q.organisation: q.guarantee.gpu_milli["A100"] // 1000 for q in world.queues}

    def inside(task: Task) -> bool:
        asked = task.gpu.count if task.gpu else 0
        return cards[task.organisation] + asked <= promise[task.organisation]

    for wait in outcome.waits:
        task = by_id[wait.task_id]
        if inside(task) and left.plan([task], NOW).places:
            assert wait.cause.code is CauseCode.BEHIND_RESERVATION
            ahead = by_id[str(wait.cause.params["for_task"])]
            assert ahead.organisation == task.organisation or inside(ahead)
