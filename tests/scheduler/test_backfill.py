"""Reservations and what may run in front of them."""

from collections import Counter
from collections.abc import Sequence
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
    Plan,
    Queue,
    QueueLevel,
    Rules,
    Running,
    Slice,
    Snapshot,
    Task,
    plan,
)
from scheduler.simulate import Arrival, Promises, simulate
from tests.scheduler.worlds import steady


def nodes(count: int, cards: int = 4) -> tuple[Node, ...]:
    return tuple(
        Node(f"n{n}", "east", "main", 64000, 655360, tuple(Device(f"n{n}-{i}", i, "", "A100", 0) for i in range(cards)))
        for n in range(count)
    )


def job(name: str, cards: int, run_s: float | None, at: float = 0.0, **fields: Any) -> Task:
    base = Task(name, "alice-lab", "", "alice", 3, at, 1000, 1024, GpuRequest(Mode.WHOLE, cards))
    return replace(base, **{"estimate_p50_s": run_s, "estimate_p90_s": run_s, **fields})


def running(task: Task, node: str, cards: range, started_at: float = 0.0) -> Running:
    return Running(task, task.id, node, tuple(Slice(f"{node}-{card}", 0, 1000) for card in cards), started_at)


BUSY = running(job("busy", 2, 100.0), "n0", range(2))


def test_a_short_task_runs_in_front_of_a_reservation_and_a_long_one_does_not() -> None:
    wide = job("wide", 4, 50.0, at=0.0)
    short, long = job("short", 1, 90.0, at=1.0), job("long", 1, 110.0, at=2.0)
    outcome = plan(Snapshot(nodes(1), (BUSY,), (wide, short, long)), 0.0)
    assert [place.task_id for place in outcome.places] == ["short"]
    waits = {wait.task_id: wait for wait in outcome.waits}
    assert (waits["wide"].start_p50, waits["wide"].cause.code) == (100.0, CauseCode.DEVICES)
    assert waits["long"].cause.code is CauseCode.BEHIND_RESERVATION
    assert waits["long"].cause.params["for_task"] == "wide"
    assert (waits["long"].start_p50, waits["long"].reserved_nodes) == (150.0, ("n0",))


def test_a_gang_is_promised_the_zone_that_has_room_for_it_first() -> None:
    ends = {"n0": 200.0, "n1": 200.0, "n2": 100.0, "n3": 100.0}
    zones = tuple(replace(node, zone="west" if ends[node.id] == 100.0 else "east") for node in nodes(4))
    held = tuple(running(job(f"on-{name}", 4, end), name, range(4)) for name, end in ends.items())
    wait = plan(Snapshot(zones, held, (job("gang", 4, 50.0, gang=Gang(2)),)), 0.0).wait_for("gang")
    assert wait is not None
    assert (wait.start_p50, wait.reserved_nodes) == (100.0, ("n2", "n3"))


def test_spare_capacity_beside_a_reservation_is_free_for_all() -> None:
    three = job("three", 3, 50.0)
    long = job("long", 1, 1000.0, at=1.0)
    outcome = plan(Snapshot(nodes(1), (BUSY,), (three, long)), 0.0)
    assert [place.task_id for place in outcome.places] == ["long"]


def test_without_an_estimate_only_what_can_be_taken_back_runs_in_front() -> None:
    wide = job("wide", 4, 50.0, priority=4)
    fixed = job("fixed", 1, None, at=1.0, priority=2)
    yielding = job("yielding", 1, None, at=2.0, priority=2, preemptible=True)
    outcome = plan(Snapshot(nodes(1), (BUSY,), (wide, fixed, yielding)), 0.0, Rules(reservations=1))
    assert [place.task_id for place in outcome.places] == ["yielding"]


def test_a_later_p90_gives_a_later_bound() -> None:
    spread = running(job("spread", 2, 100.0, estimate_p90_s=400.0), "n0", range(2))
    (wait,) = plan(Snapshot(nodes(1), (spread,), (job("wide", 4, 50.0),)), 0.0).waits
    assert (wait.start_p50, wait.start_p90) == (100.0, 400.0)


Shape = list[tuple[int, int, int]]

jobs = st.lists(st.tuples(st.integers(1, 4), st.integers(10, 300), st.integers(0, 400)), min_size=2, max_size=14)


@steady
@given(jobs, st.integers(1, 2))
def test_backfill_never_delays_a_reserved_start_when_estimates_are_exact(shape: Shape, count: int) -> None:
    """Every start that a pass promises (p50) is met, for as long as nobody of higher standing arrives."""
    arrivals = [
        Arrival(job(f"j{i:02d}", cards, float(run), float(at)), float(run)) for i, (cards, run, at) in enumerate(shape)
    ]
    promised: dict[str, float] = {}

    def decide(engine: Engine, waiting: Sequence[Task], now: float, promises: Promises) -> Plan:
        outcome = engine.plan(waiting, now, promised=promises)
        head = next(iter(outcome.waits), None)
        if head is not None and head.start_p50 is not None:
            known = promised.setdefault(head.task_id, head.start_p50)
            assert head.start_p50 <= known + 1e-6
        return outcome

    report = simulate(nodes(count), arrivals, decide=decide)
    assert not report.never_started
    for record in report.records:
        if record.task.id in promised:
            assert record.started_at <= promised[record.task.id] + 1e-6


def test_large_tasks_do_not_starve() -> None:
    """A stream of small tasks, always enough to fill the node: without reservations the wide one never starts."""
    small = [Arrival(job(f"s{i:03d}", 1, 40.0, float(10 * i)), 40.0) for i in range(100)]
    wide = Arrival(job("wide", 4, 20.0, 15.0), 20.0)
    kept = {r.task.id: r for r in simulate(nodes(1), [*small, wide]).records}
    skipped = {r.task.id: r for r in simulate(nodes(1), [*small, wide], rules=Rules(reservations=0)).records}
    assert kept["wide"].wait_s <= 50
    assert skipped["wide"].wait_s > 500


def test_a_promise_is_kept_against_those_who_come_later_and_broken_by_higher_priority() -> None:
    busy = running(job("busy", 3, 100.0, organisation="bob-inc"), "n0", range(3))
    wide = job("wide", 4, 50.0, organisation="bob-inc")
    (wait,) = plan(Snapshot(nodes(1), (busy,), (wide,)), 0.0).waits
    assert wait.reserved_nodes == ("n0",)
    promised = {"wide": wait.reserved_nodes}
    newcomer = job("newcomer", 1, 500.0, at=5.0, organisation="charlie-co")
    later = Snapshot(nodes(1), (busy,), (wide, newcomer), promised=promised)
    assert plan(later, 10.0).places == ()
    assert [p.task_id for p in plan(replace(later, promised={}), 10.0).places] == ["newcomer"]
    urgent = replace(newcomer, id="urgent", organisation="bob-inc", priority=5)
    assert [p.task_id for p in plan(replace(later, waiting=(wide, urgent)), 10.0).places] == ["urgent"]


def test_reservations_are_dealt_as_cards_are() -> None:
    """Four equal organisations wait with large jobs for a full cluster: none is given all the room to come."""
    held = tuple(running(job(f"busy{n}", 4, 100.0 + n), f"n{n}", range(4)) for n in range(16))
    waiting = tuple(
        job(f"{o}-{i:02d}", 4, 50.0, organisation=o, at=float(i))
        for o in ("ann", "bob", "cat", "dan")
        for i in range(20)
    )
    waits = plan(Snapshot(nodes(16), held, waiting), 0.0).waits
    kept = Counter(wait.task_id.split("-")[0] for wait in waits if wait.reserved_nodes)
    assert kept == {"ann": 4, "bob": 4, "cat": 4, "dan": 4}


def test_reservations_are_dealt_between_the_users_of_one_organisation_as_well() -> None:
    held = tuple(running(job(f"busy{n}", 4, 100.0 + n), f"n{n}", range(4)) for n in range(16))
    waiting = tuple(job(f"{u}-{i:02d}", 4, 50.0, user=u, at=float(i)) for u in ("eve", "fay") for i in range(20))
    waits = plan(Snapshot(nodes(16), held, waiting), 0.0).waits
    kept = Counter(wait.task_id.split("-")[0] for wait in waits if wait.reserved_nodes)
    assert kept == {"eve": 8, "fay": 8}


def test_room_to_come_counts_against_no_guarantee() -> None:
    """What is promised is measured by what is held: one that holds nothing goes first with all it was promised."""
    promise = Queue(QueueLevel.ORGANISATION, "ann", "ann", guarantee=Amount(gpu_milli={"A100": 8000}))
    held = tuple(running(job(f"busy{n}", 4, 100.0 + n, organisation="zoe"), f"n{n}", range(4)) for n in range(4))
    waiting = tuple(job(f"{o}-{i}", 4, 50.0, organisation=o, at=float(i)) for o in ("ann", "bob") for i in range(4))
    waits = plan(Snapshot(nodes(4), held, waiting, (promise,)), 0.0).waits
    assert [wait.task_id for wait in waits if wait.start_p50 in (100.0, 101.0)] == ["ann-0", "ann-1"]


def test_a_task_may_use_what_is_kept_for_it_after_others_of_its_kind_were_refused() -> None:
    first, second = job("first", 4, 50.0, at=0.0), job("second", 4, 50.0, at=1.0)
    outcome = plan(Snapshot(nodes(1), (), (first, second), promised={"second": ("n0",)}), 10.0)
    assert [place.task_id for place in outcome.places] == ["second"]


def test_what_fits_is_kept_for_a_known_start_alone() -> None:
    """Bob holds three of four cards and was promised all four; Ann has nothing and wants one.

    Where nobody knows when Bob's run ends, the free card would lie idle for as long.
    """
    busy = running(job("busy", 3, None, organisation="bob"), "n0", range(3))
    wide = job("wide", 4, None, organisation="bob")
    small = job("small", 1, None, at=5.0, organisation="ann")
    later = Snapshot(nodes(1), (busy,), (wide, small), promised={"wide": ("n0",)})
    assert [place.task_id for place in plan(later, 10.0).places] == ["small"]
    late = replace(busy, task=job("busy", 3, 5.0, organisation="bob"))
    assert [place.task_id for place in plan(replace(later, running=(late,)), 10.0).places] == ["small"]
    on_time = replace(busy, task=job("busy", 3, 50.0, organisation="bob"))
    assert plan(replace(later, running=(on_time,)), 10.0).places == ()
    large, one = replace(small, id="large", gpu=GpuRequest(Mode.WHOLE, 3)), replace(busy, slices=busy.slices[:1])
    outcome = plan(replace(later, running=(one,), waiting=(wide, large)), 10.0)
    assert [place.task_id for place in outcome.places] == ["large"]
    held = plan(replace(later, running=(one,), waiting=(wide, large)), 7 * 3600.0)  # by then it holds what is free
    assert held.places == ()


def test_a_longer_task_that_was_refused_keeps_no_shorter_one_back() -> None:
    wide = job("wide", 4, 50.0)
    long, short = job("long", 1, 110.0, at=1.0), job("short", 1, 90.0, at=2.0)
    outcome = plan(Snapshot(nodes(1), (BUSY,), (wide, long, short)), 0.0)
    assert [place.task_id for place in outcome.places] == ["short"]


def test_room_is_lent_to_those_of_its_own_organisation_alone() -> None:
    """Who has promised room takes it back from a colleague of lower priority, and from nobody else."""
    wide = job("wide", 4, 50.0)
    full = running(job("full", 4, None, organisation="bob-inc"), "n1", range(4))  # so that it is not the others' turn
    for name, lent in (("alice-lab", True), ("bob-inc", False)):
        later = job("later", 1, None, at=1.0, organisation=name, priority=1, preemptible=True)
        places = plan(Snapshot(nodes(2), (BUSY, full), (wide, later)), 0.0).places
        assert [place.task_id for place in places] == (["later"] if lent else [])


def test_who_is_over_a_quota_is_promised_no_room() -> None:
    """Which models it would be given shows only once it is placed; its organisation may have none of these."""
    none = Queue(QueueLevel.ORGANISATION, "alice-lab", "alice-lab", limit=Amount(gpu_milli={"A100": 1000}))
    (wait,) = plan(Snapshot(nodes(1), (), (job("two", 2, 50.0),), (none,)), 0.0).waits
    assert wait.cause.code is CauseCode.QUOTA
    assert (wait.reserved_nodes, wait.start_p50) == ((), None)
