"""Shares as a pass hands them out, and pre-emption that comes to rest."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.preempt import judge, world
from scheduler import Amount, Device, GpuRequest, Mode, Node, Queue, QueueLevel, Running, Snapshot, Task, plan
from tests.scheduler.worlds import steady

ORGANISATIONS = ("alice-lab", "bob-inc", "charlie-co")


def node(cards: int) -> Node:
    return Node("n0", "z", "c", 640000, 655360, tuple(Device(f"d{i}", i, "", "A100", 0) for i in range(cards)))


def job(name: str, organisation: str, cards: int = 1, **fields: Any) -> Task:
    base = Task(name, organisation, "", "u", 3, 0.0, 100, 100, GpuRequest(Mode.WHOLE, cards), preemptible=True)
    return replace(base, **fields)


def queue(organisation: str, **fields: Any) -> Queue:
    return Queue(QueueLevel.ORGANISATION, organisation, organisation, **fields)


def cards_started(world: Snapshot, organisation: str) -> int:
    mine = {task.id for task in world.waiting if task.organisation == organisation}
    return sum(len(place.slices) for place in plan(world, 1.0).places if place.task_id in mine)


@steady
@given(
    st.integers(1, 16),
    st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0]), min_size=3, max_size=3),
    st.sampled_from([1.5, 2.0, 4.0]),
)
def test_more_weight_never_gets_fewer_cards(cards: int, weights: list[float], factor: float) -> None:
    waiting = tuple(job(f"{o}-{i:02d}", o) for o in ORGANISATIONS for i in range(16))
    plain = tuple(queue(o, weight=w) for o, w in zip(ORGANISATIONS, weights, strict=True))
    heavier = (replace(plain[0], weight=weights[0] * factor), *plain[1:])
    before, after = (cards_started(Snapshot((node(cards),), (), waiting, q), "alice-lab") for q in (plain, heavier))
    assert after >= before


tasks = st.lists(
    st.tuples(st.sampled_from(ORGANISATIONS), st.integers(1, 5), st.integers(1, 4)), min_size=1, max_size=12
)


@steady
@given(tasks, st.tuples(*[st.integers(0, 3)] * 3))
def test_in_a_closed_world_pre_emption_comes_to_rest(
    shape: list[tuple[str, int, int]], promise: tuple[int, ...]
) -> None:
    """Nothing arrives and nothing ends: each eviction serves a higher priority or a guarantee, so they run out."""
    queues = tuple(
        queue(o, guarantee=Amount(gpu_milli={"A100": 1000 * cards}))
        for o, cards in zip(ORGANISATIONS, promise, strict=True)
    )
    waiting = {f"t{i:02d}": job(f"t{i:02d}", o, cards, priority=p) for i, (o, p, cards) in enumerate(shape)}
    running: dict[str, Running] = {}
    evictions = 0
    for turn in range(4 * len(shape) + 4):
        snapshot = Snapshot((node(6),), tuple(running.values()), tuple(waiting.values()), queues)
        outcome = plan(snapshot, float(turn))
        if not outcome.places and not outcome.preempts:
            break
        for place in outcome.places:
            task = waiting.pop(place.task_id)
            running[task.id] = Running(task, task.id, place.node_id, place.slices, float(turn))
        for gone in outcome.preempts:
            waiting[gone.task_id] = replace(running.pop(gone.task_id).task, requeued=True)
            evictions += 1
    else:
        pytest.fail("it goes on and on")
    assert evictions <= len(shape) ** 2


def test_victims_are_the_cheapest_lawful_ones_and_none_is_needless() -> None:
    scores = [judge(world(seed, nodes=3, width=8)) for seed in range(40)]
    ratios = [score.ratio for score in scores if score.ratio is not None]
    assert len(ratios) > 10
    assert sum(ratios) / len(ratios) <= 1.05
    assert not any(score.unlawful or score.needless or score.missed or score.priority_worse for score in scores)
