"""How many cards must fall free: the number is held against what the engine starts."""

from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from scheduler import Device, GpuRequest, Mode, Node, Running, Slice, Snapshot, Task, Wait, plan
from scheduler.demand import demand_of, least_members
from scheduler.queue_ahead import Waiting, ahead_of_each
from tests.scheduler.worlds import steady


def node(index: int, cards: int, model: str = "H200") -> Node:
    made = tuple(Device(f"n{index}-{i}", i, "nvidia", model, 81920) for i in range(cards))
    return Node(f"n{index}", "east", "main", 256_000, 1_048_576, made)


def job(name: str, cards: int = 1, **fields: object) -> Task:
    base = Task(name, "lab", "", "alice", 3, float(len(name)), 1000, 1024, GpuRequest(Mode.WHOLE, cards, "H200"))
    return replace(base, **fields)  # type: ignore[arg-type]


def running(name: str, card: Device, node_id: str) -> Running:
    return Running(job(name), name, node_id, (Slice(card.id, 81920, 1000),), 0.0)


@st.composite
def crowded(draw: st.DrawFn, sizes: tuple[int, ...]) -> Snapshot:
    """Nodes of H200 cards, some of them taken by tasks of one card each, and a queue of whole-card tasks."""
    made = [node(index, draw(st.integers(1, 8))) for index in range(draw(st.integers(1, 3)))]
    held = [
        running(f"held-{card.id}", card, each.id)
        for each in made
        for card in each.devices
        if draw(st.integers(0, 3))  # three in four are taken
    ]
    queue = [
        job(f"task-{index:02}", draw(st.sampled_from(sizes)), submitted_at=float(index))
        for index in range(draw(st.integers(1, 10)))
    ]
    return Snapshot(nodes=tuple(made), running=tuple(held), waiting=tuple(queue))


def waits_of(world: Snapshot) -> Mapping[str, Wait]:
    return {wait.task_id: wait for wait in plan(world, 10.0).waits}


def turn(world: Snapshot) -> tuple[Snapshot, set[str]]:
    """The world with what the engine starts in it, and what that is."""
    places = plan(world, 10.0).places
    by_id = {task.id: task for task in world.waiting}
    new = [Running(by_id[place.task_id], place.task_id, place.node_id, place.slices, 10.0) for place in places]
    placed = {place.task_id for place in places}
    left = tuple(task for task in world.waiting if task.id not in placed)
    return replace(world, running=(*world.running, *new), waiting=left), placed


def started_after(world: Snapshot, ended: int) -> set[str]:
    """What the engine starts once the first `ended` running tasks have ended, turn after turn.

    What it starts at once has been started by then, also what stood further back and took room that was left.
    """
    world, _at_once = turn(world)
    world = replace(world, running=world.running[ended:])
    started: set[str] = set()
    for _ in range(len(world.waiting) + 1):
        world, placed = turn(world)
        if not placed:
            break
        started |= placed
    return started


@steady
@given(crowded((1,)), st.data())
def test_with_so_many_all_of_them_start_and_with_one_less_they_do_not(world: Snapshot, data: st.DataObject) -> None:
    waits = waits_of(world)
    order = [wait.task_id for wait in sorted(waits.values(), key=lambda wait: wait.position)]
    for wait in waits.values():
        ahead = wait.ahead
        assert ahead is not None
        until = set(order[: ahead.tasks + 1])
        assert order[ahead.tasks] == wait.task_id
        assert ahead.short > 0
        if ahead.short <= len(world.running):
            assert until <= started_after(world, ahead.short)
        fewer = data.draw(st.integers(0, ahead.short - 1))
        assert not until <= started_after(world, min(fewer, len(world.running)))


@steady
@given(crowded((1, 2, 4)), st.data())
def test_with_fewer_never_all_of_them_start(world: Snapshot, data: st.DataObject) -> None:
    waits = waits_of(world)
    order = [wait.task_id for wait in sorted(waits.values(), key=lambda wait: wait.position)]
    for wait in waits.values():
        if wait.ahead is None or not wait.ahead.short:
            continue  # what falls apart over nodes, or can never fit
        competing = [task_id for task_id in order if waits[task_id].ahead is not None]
        until = set(competing[: wait.ahead.tasks + 1])
        fewer = data.draw(st.integers(0, wait.ahead.short - 1))
        assert not until <= started_after(world, min(fewer, len(world.running)))


@steady
@given(crowded((1, 2, 4)))
def test_free_cards_are_those_that_nothing_holds(world: Snapshot) -> None:
    first = plan(world, 10.0)
    used = sum(len(place.slices) for place in first.places) + len(world.running)
    free = sum(len(each.devices) for each in world.nodes) - used
    assert {wait.ahead.free for wait in first.waits if wait.ahead is not None} <= {free}


def test_others_cards_and_what_never_starts_do_not_count() -> None:
    world = Snapshot(
        nodes=(node(0, 1), node(1, 1, "T4")),
        running=(running("held", node(0, 1).devices[0], "n0"),),
        waiting=(
            job("huge", 8, submitted_at=0.0),
            job("t4", gpu=GpuRequest(Mode.WHOLE, 1, "T4"), submitted_at=1.0),
            job("cpu", gpu=None, cpu_milli=1_000_000, submitted_at=2.0),
            job("first", submitted_at=3.0),
            job("second", submitted_at=4.0),
        ),
    )
    waits = waits_of(world)
    assert waits["huge"].ahead is None
    assert waits["cpu"].ahead is None
    found = waits["second"].ahead
    assert found is not None
    assert (found.tasks, found.cards, found.free, found.short) == (1, 2, 0, 2)


def test_members_count_each() -> None:
    asked = Waiting(demand_of(job("a", 2)), 3, waits_of(crowd())["w"].cause.code)
    assert least_members(job("a")) == 1
    [first, second] = ahead_of_each([asked, asked], lambda _: 1)
    assert first is not None
    assert second is not None
    assert (first.cards, first.short, second.cards, second.short) == (6, 5, 12, 11)


def crowd() -> Snapshot:
    return Snapshot(nodes=(node(0, 1),), running=(running("held", node(0, 1).devices[0], "n0"),), waiting=(job("w"),))
