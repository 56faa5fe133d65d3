"""Replays end, keep within capacity, and repeat exactly."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scheduler import Amount, Device, GpuRequest, LearnedMix, Mode, Node, Queue, QueueLevel, Rules, Task
from scheduler.estimate import History
from scheduler.simulate import Arrival, simulate
from tests.scheduler.worlds import steady


def nodes(count: int) -> tuple[Node, ...]:
    cards = [[Device(f"n{n}-{i}", i, "", "A100", 0) for i in range(4)] for n in range(count)]
    return tuple(Node(f"n{n}", "east", "main", 64000, 655360, tuple(made)) for n, made in enumerate(cards))


def job(name: str, cards: int, at: float, **fields: Any) -> Task:
    base = Task(name, "alice-lab", "", "alice", 3, at, 1000, 1024, GpuRequest(Mode.WHOLE, cards), preemptible=True)
    return replace(base, **fields)


shapes = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.integers(1, 500),
        st.integers(0, 600),
        st.integers(1, 5),
        st.sampled_from(["alice-lab", "bob-inc"]),
    ),
    min_size=1,
    max_size=15,
)


def arrivals_of(shape: list[tuple[int, int, int, int, str]]) -> list[Arrival]:
    return [
        Arrival(job(f"j{i:02d}", cards, float(at), priority=priority, organisation=organisation), float(run))
        for i, (cards, run, at, priority, organisation) in enumerate(shape)
    ]


@steady
@given(shapes)
def test_every_task_ends_once_however_often_it_is_pushed_aside(shape: list[tuple[int, int, int, int, str]]) -> None:
    arrivals = arrivals_of(shape)
    promise = Amount(gpu_milli={"A100": 2000})
    queues = tuple(Queue(QueueLevel.ORGANISATION, o, o, guarantee=promise) for o in ("alice-lab", "bob-inc"))
    report = simulate(nodes(1), arrivals, queues, Rules(notice_s=5.0))
    assert sorted(r.task.id for r in report.records) == sorted(a.task.id for a in arrivals)
    assert report.never_started == ()
    run = {a.task.id: a.run_s for a in arrivals}
    for record in report.records:
        assert record.wait_s >= 0
        assert record.completion_s >= run[record.task.id] - 1e-6
    work = sum(a.run_s * (a.task.gpu.count if a.task.gpu else 0) for a in arrivals)
    assert abs(report.busy_gpu_s - work) < 1e-6 * max(1.0, work)
    assert report.busy_gpu_s <= 4 * report.span_s + 1e-6


@steady
@given(shapes)
def test_a_replay_repeats_exactly(shape: list[tuple[int, int, int, int, str]]) -> None:
    arrivals = arrivals_of(shape)
    assert simulate(nodes(2), arrivals, history=History()) == simulate(nodes(2), arrivals, history=History())


def test_an_urgent_task_pushes_a_lower_one_aside_and_it_resumes_first() -> None:
    low = Arrival(job("low", 4, 0.0, priority=1), 100.0)
    late = Arrival(job("late", 4, 5.0, priority=1), 10.0)
    urgent = Arrival(job("urgent", 4, 10.0, priority=5), 20.0)
    report = simulate(nodes(1), [low, late, urgent], rules=Rules(notice_s=5.0))
    assert [(r.task.id, r.ended_at, r.evictions) for r in report.records] == [
        ("urgent", 35.0, 0),
        ("low", 120.0, 1),
        ("late", 130.0, 0),
    ]


def test_run_times_are_learned_from_the_most_specific_history() -> None:
    history = History()
    for run in range(1, 101):
        history.ended(job("x", 1, 0.0, user="alice"), float(run))
        history.ended(job("x", 1, 0.0, user="bob"), 1000.0)
    assert history.estimate(job("y", 1, 0.0, user="alice")) == (51.0, 91.0)
    assert history.estimate(job("y", 1, 0.0, user="bob")) == (1000.0, 1000.0)
    assert history.estimate(job("y", 1, 0.0, user="alice"), elapsed_s=80.0) == (90.0, 98.0)
    assert History().estimate(job("y", 1, 0.0)) is None


def test_the_learned_mix_fades() -> None:
    week = 7 * 86400.0
    old = LearnedMix().seen([job(f"a{i}", 1, 0.0) for i in range(40)], 0.0)
    new = old.seen([job(f"b{i}", 2, 0.0) for i in range(20)], 2 * week)
    mix = new.mix()
    assert mix is not None
    assert {entry.gpu.count: round(entry.share, 3) for entry in mix.entries if entry.gpu} == {2: 0.667, 1: 0.333}
