"""Requests and nodes that make no sense: a clear cause, nothing handed out twice, and nobody behind them held up."""

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler import (
    CauseCode,
    Device,
    Engine,
    Gang,
    GpuRequest,
    MigProfile,
    Mode,
    Node,
    Running,
    Slice,
    Snapshot,
    Task,
    plan,
)
from scheduler.cells import Cells, Claim
from scheduler.columns import RequestClass
from scheduler.demand import demand_of
from scheduler.gangs import members_per_row, members_that_fit
from tests.scheduler.ledger import as_running, check_capacity
from tests.scheduler.test_cells import allocator_for, choices, churn
from tests.scheduler.worlds import snapshots, steady

NAN: Any = math.nan
INFINITE: Any = math.inf
CARDS = tuple(Device(f"good-{i}", i, "nvidia", "A100", 81920) for i in range(4))
GOOD = Node("good", "east", "main", 64000, 65536, CARDS)
FINE = Task("fine", "alice-lab", "", "u", 1, 1000.0, 1000, 1024, GpuRequest(Mode.WHOLE, 4))
LOUD = replace(FINE, priority=5, submitted_at=0.0)

NEVER: dict[str, tuple[Task, set[CauseCode]]] = {
    "more CPU than any node": (replace(LOUD, cpu_milli=10**9), {CauseCode.NEVER_FITS}),
    "more memory than any node": (replace(LOUD, memory_mib=10**9), {CauseCode.NEVER_FITS}),
    "more CPU than a number holds": (replace(LOUD, cpu_milli=10**30), {CauseCode.BAD_REQUEST}),
    "CPU that is no number": (replace(LOUD, cpu_milli=NAN), {CauseCode.BAD_REQUEST}),
    "endless memory": (replace(LOUD, memory_mib=INFINITE), {CauseCode.BAD_REQUEST}),
    "negative CPU": (replace(LOUD, cpu_milli=-1), {CauseCode.BAD_REQUEST}),
    "negative memory": (replace(LOUD, memory_mib=-1), {CauseCode.BAD_REQUEST}),
    "unknown model": (replace(LOUD, gpu=GpuRequest(Mode.WHOLE, 1, "H900")), {CauseCode.NO_SUCH_MODEL}),
    "model and its contrary": (
        replace(LOUD, gpu=GpuRequest(Mode.WHOLE, 1, "A100", any_of=("T4",))),
        {CauseCode.NO_SUCH_MODEL},
    ),
    "mode that no card is in": (replace(LOUD, gpu=GpuRequest(Mode.VGPU, 1, None, 500)), {CauseCode.NO_SUCH_MODE}),
    "no card at all": (replace(LOUD, gpu=GpuRequest(Mode.WHOLE, 0)), {CauseCode.BAD_REQUEST}),
    "more cards than any node": (replace(LOUD, gpu=GpuRequest(Mode.WHOLE, 9)), {CauseCode.NEVER_FITS}),
    "absurdly many cards": (replace(LOUD, gpu=GpuRequest(Mode.WHOLE, 10**30)), {CauseCode.BAD_REQUEST}),
    "share of more than a card": (replace(LOUD, gpu=GpuRequest(Mode.VGPU, 1, None, 5000)), {CauseCode.BAD_REQUEST}),
    "share of nothing": (replace(LOUD, gpu=GpuRequest(Mode.SHARED, 1, None, 0)), {CauseCode.BAD_REQUEST}),
    "share of no number": (replace(LOUD, gpu=GpuRequest(Mode.VGPU, 1, None, NAN)), {CauseCode.BAD_REQUEST}),
    "MIG without a profile": (replace(LOUD, gpu=GpuRequest(Mode.MIG, 1)), {CauseCode.BAD_REQUEST}),
    "zone that is not there": (replace(LOUD, zone="mars"), {CauseCode.ZONE}),
    "zone and cluster that do not meet": (replace(LOUD, zone="east", cluster="lab"), {CauseCode.CLUSTER}),
    "architecture that is not there": (replace(LOUD, archs=("riscv64",)), {CauseCode.ARCH}),
    "gang larger than the cluster": (replace(LOUD, gang=Gang(1000)), {CauseCode.NEVER_FITS}),
    "gang whose least is larger than the cluster": (replace(LOUD, gang=Gang(1000, 3)), {CauseCode.NEVER_FITS}),
    "gang larger than any cluster": (replace(LOUD, gang=Gang(10**9)), {CauseCode.BAD_REQUEST}),
    "gang whose least is more than its most": (replace(LOUD, gang=Gang(2, 3)), {CauseCode.BAD_REQUEST}),
    "gang of nobody": (replace(LOUD, gang=Gang(0)), {CauseCode.BAD_REQUEST}),
    "gang of at least nobody": (replace(LOUD, gang=Gang(2, 0)), {CauseCode.BAD_REQUEST}),
    "priority out of range": (replace(LOUD, priority=9), {CauseCode.BAD_REQUEST}),
}


@pytest.mark.parametrize("name", NEVER)
def test_what_can_never_start_is_told_so_and_stalls_nobody(name: str) -> None:
    task, expected = NEVER[name]
    outcome = plan(Snapshot((GOOD,), waiting=(replace(task, id="never"), FINE)), 2000.0)
    assert [p.task_id for p in outcome.places] == ["fine"]
    (wait,) = outcome.waits
    assert {wait.cause.code} == expected
    assert not wait.reserved_nodes


@steady
@given(st.permutations(sorted(NEVER)))
def test_all_of_it_at_once_stalls_nobody_either(order: list[str]) -> None:
    waiting = tuple(replace(NEVER[name][0], id=name, submitted_at=float(i)) for i, name in enumerate(order))
    outcome = plan(Snapshot((GOOD,), waiting=(*waiting, FINE)), 2000.0)
    assert [p.task_id for p in outcome.places] == ["fine"]
    assert {w.task_id: {w.cause.code} for w in outcome.waits} == {name: NEVER[name][1] for name in order}


sizes = st.sampled_from([0, -1, 1, 81920, 10**30, NAN, INFINITE, -INFINITE])
odd_profiles = st.builds(
    MigProfile,
    st.sampled_from(["1g.10gb", "", "x"]),
    st.lists(st.integers(-3, 9), max_size=4).map(tuple),
    st.integers(-1, 9),
    st.integers(-1, 8),
    st.integers(-1, 81920),
    st.integers(-1, 9),
)


@st.composite
def odd_nodes(draw: st.DrawFn, index: int) -> Node:
    """Sizes that are none, cards reported twice, cards of the wrong index, geometry that cannot be."""
    cards = tuple(
        Device(
            draw(st.sampled_from(["a", "a", "b", "c"])),
            draw(st.integers(-1, 3)),
            "any",
            draw(st.sampled_from(["A100", "", "910B3"])),
            draw(sizes),
            draw(st.sampled_from(list(Mode))),
            mig_profiles=draw(st.none() | st.lists(odd_profiles, max_size=3).map(tuple)),
            share_milli=draw(sizes),
        )
        for _ in range(draw(st.integers(0, 4)))
    )
    return Node(
        draw(st.sampled_from([f"odd-{index}", "odd"])),
        "east",
        "main",
        draw(sizes),
        draw(sizes),
        cards,
        topology=("", ""),
    )


@steady
@given(st.lists(st.integers(0, 3).flatmap(odd_nodes), max_size=3), snapshots(most_nodes=1, most_tasks=8))
def test_nodes_that_report_nonsense_break_nothing(odd: list[Node], world: Snapshot) -> None:
    """Every task has one outcome, no card is given twice, and a task that fits on the sound node still starts."""
    fine = replace(FINE, organisation="nobody-else", priority=5, submitted_at=-1.0, preemptible=False, archs=("sound",))
    sound = replace(GOOD, arch="sound")
    outcome = plan(Snapshot((*odd, sound), waiting=(*world.waiting, fine)), 200.0)
    placed = {p.task_id for p in outcome.places}
    assert Counter([*placed, *(w.task_id for w in outcome.waits)]) == Counter(t.id for t in (*world.waiting, fine))
    assert "fine" in placed
    taken = Counter((p.node_id, s.device_id) for p in outcome.places for s in p.slices if s.core_milli == 1000)
    assert not taken or max(taken.values()) == 1


def test_a_card_that_is_reported_twice_is_one_card() -> None:
    twice = replace(GOOD, devices=(CARDS[0], CARDS[0], replace(CARDS[0], index=3), CARDS[1]))
    one = replace(FINE, gpu=GpuRequest(Mode.WHOLE, 1))
    world = Snapshot((twice,), waiting=tuple(replace(one, id=f"t{i}") for i in range(4)))
    outcome = plan(world, 0.0)
    assert sorted(p.slices[0].device_id for p in outcome.places) == ["good-0", "good-1"]


def test_of_two_nodes_with_one_name_the_first_counts() -> None:
    shadow = replace(GOOD, cpu_milli=10**6)
    outcome = plan(Snapshot((GOOD, shadow), waiting=(FINE, replace(FINE, id="second"))), 0.0)
    assert len(outcome.places) == 1
    engine = Engine((GOOD, shadow), [Running(FINE, "x", "good", tuple(Slice(c.id, 81920, 1000) for c in CARDS), 0.0)])
    assert engine.cells.cpu.tolist() == [63000, 10**6]


@steady
@given(snapshots(), choices)
def test_the_room_for_members_counted_at_once_is_that_of_placing_them(world: Snapshot, order: list[int]) -> None:
    allocator = allocator_for(world)
    churn(allocator, world, order)
    cells = allocator.cells
    for task in world.waiting:
        kind = RequestClass(cells, demand_of(task))
        rows = np.flatnonzero(kind.allowed)
        alone = [members_that_fit(cells, row, kind.demand, 9) for row in rows.tolist()]
        assert members_per_row(kind, rows, 9).tolist() == alone


def test_a_node_that_holds_more_than_it_has_has_room_for_no_member() -> None:
    cells = Cells([GOOD])
    cells.take(Claim(0, 10**6, 0, (), "lab"))
    assert members_per_row(RequestClass(cells, demand_of(replace(FINE, gpu=None))), np.array([0]), 9).tolist() == [0]


def test_a_large_gang_of_tiny_members_is_decided_at_once() -> None:
    """10,000 members on cards that could hold 1,000 each: counted, not tried one by one."""
    node = replace(GOOD, devices=tuple(replace(card, mode=Mode.VGPU) for card in CARDS))
    crumb = replace(FINE, cpu_milli=0, memory_mib=0, gpu=GpuRequest(Mode.VGPU, 1, None, 1, 1), gang=Gang(10_000))
    (wait,) = plan(Snapshot((node,), waiting=(crumb,)), 0.0).waits
    assert wait.cause.code is CauseCode.NEVER_FITS
    some = replace(crumb, gang=Gang(200))
    world = Snapshot((node,), waiting=(some,))
    outcome = plan(world, 0.0)
    assert len(outcome.places) == 200
    check_capacity(world, as_running(world, outcome, 0.0))


def test_numbers_too_large_for_the_arrays_are_cut() -> None:
    assert Cells([replace(GOOD, cpu_milli=10**30)]).cpu.tolist() == [1 << 50]
