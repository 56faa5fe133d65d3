"""What was promised of one model does not wait behind what was not promised of another."""

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scheduler import Amount, Device, GpuRequest, Mode, Node, Queue, QueueLevel, Rules, Running, Slice, Snapshot, Task
from scheduler import plan as plan_all
from tests.scheduler.worlds import steady

MODELS, ORGANISATIONS, NOW = ("A100", "T4"), ("alice-lab", "bob-inc", "charlie-co"), 1000.0
CARDS = 4
NODES = tuple(
    Node(model, "z", "c", 64000, 65536, tuple(Device(f"{model}-{i}", i, "", model, 0) for i in range(CARDS)))
    for model in MODELS
)


def job(name: str, organisation: str, model: str | None, **fields: Any) -> Task:
    task = Task(name, organisation, "", "u", 3, 0.0, 1000, 1024, GpuRequest(Mode.WHOLE, 1, model))
    return replace(task, **fields)


def running(organisation: str, model: str, card: int) -> Running:
    name = f"{model}-{card}"
    return Running(job(f"r-{name}", organisation, model), f"r-{name}", model, (Slice(name, 0, 1000),), 0.0)


def promised(organisation: str, **cards: int) -> Queue:
    amount = Amount(gpu_milli={model: 1000 * count for model, count in cards.items()})
    return Queue(QueueLevel.ORGANISATION, organisation, organisation, guarantee=amount)


def started(world: Snapshot) -> list[str]:
    return [place.task_id for place in plan_all(world, NOW, Rules(reservations=0)).places]


def test_a_promise_of_one_model_is_kept_behind_tasks_for_another() -> None:
    """Bob holds more than Alice, and his first task wants what he was not promised and what is not free."""
    held = (*(running("bob-inc", "A100", card) for card in range(4)), *(running("bob-inc", "T4", c) for c in range(3)))
    first, second = job("b-first", "bob-inc", "A100"), job("b-second", "bob-inc", "T4", submitted_at=5.0)
    world = Snapshot(NODES, held, (job("a", "alice-lab", "T4"), first, second))
    assert started(world) == ["a"]
    assert started(replace(world, queues=(promised("bob-inc", T4=4),))) == ["b-second"]


def test_priority_counts_among_those_of_one_promise_and_among_those_of_none() -> None:
    queues = (promised("bob-inc", T4=2),)
    held = tuple(running("alice-lab", "T4", card) for card in range(3))
    low, high = (job(name, "bob-inc", "T4", priority=at) for name, at in (("low", 1), ("high", 5)))
    assert started(Snapshot(NODES, held, (low, high), queues)) == ["high"]
    full = tuple(running("bob-inc", "T4", card) for card in range(2))
    busy = tuple(running("alice-lab", "A100", card) for card in range(4))
    either = (job("either", "bob-inc", None, priority=5), replace(low, submitted_at=-9.0))
    assert started(Snapshot(NODES, (*full, *busy, running("alice-lab", "T4", 2)), either, queues)) == ["either"]


@st.composite
def worlds(draw: st.DrawFn) -> Snapshot:
    """Some cards of either model are held, tasks of one card wait, anybody may have been promised some of either."""
    held = tuple(
        running(draw(st.sampled_from(ORGANISATIONS)), model, card)
        for model in MODELS
        for card in range(draw(st.integers(0, CARDS)))
    )
    waiting = tuple(
        job(
            f"w{index}",
            draw(st.sampled_from(ORGANISATIONS)),
            draw(st.sampled_from(MODELS)),
            priority=draw(st.integers(1, 5)),
            submitted_at=float(draw(st.integers(0, 9))),
        )
        for index in range(draw(st.integers(1, 8)))
    )
    counts = st.integers(0, 3)
    queues = tuple(promised(o, A100=draw(counts), T4=draw(counts)) for o in ORGANISATIONS)
    return Snapshot(NODES, held, waiting, queues)


@steady
@given(worlds())
def test_nobody_starts_outside_its_promise_while_another_waits_inside_of_its_own(world: Snapshot) -> None:
    by_id = {task.id: task for task in world.waiting}
    begun = [by_id[task_id] for task_id in started(world)]
    tasks = [*(member.task for member in world.running), *begun]
    held = Counter((task.organisation, task.gpu.model) for task in tasks if task.gpu)
    promise = {(q.id, model): q.guarantee.gpu_milli[model] // 1000 for q in world.queues for model in MODELS}
    outside = {(t.organisation, t.gpu.model) for t in begun if t.gpu}
    outside = {key for key in outside if held[key] > promise[key[0], str(key[1])]}
    for task in (task for task in world.waiting if task not in begun and task.gpu):
        model = str(task.gpu.model if task.gpu else "")
        if held[task.organisation, model] < promise[task.organisation, model]:
            assert not {key for key in outside if key[1] == model}
