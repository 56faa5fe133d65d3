"""Replays end, keep within capacity, and repeat exactly."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler import Amount, Device, GpuRequest, LearnedMix, Mode, Node, Queue, QueueLevel, Rules, Task
from scheduler.estimate import History
from scheduler.replay.usage import RecentUse
from scheduler.simulate import Arrival, Fate, Grid, Report, simulate
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
        history.record(job("x", 1, 0.0, user="alice"), float(run))
        history.record(job("x", 1, 0.0, user="bob"), 1000.0)
    assert history.estimate(job("y", 1, 0.0, user="alice")) == (51.0, 91.0)
    assert history.estimate(job("y", 1, 0.0, user="bob")) == (1000.0, 1000.0)
    assert history.estimate(job("y", 1, 0.0, user="alice"), elapsed_s=80.0) == (90.0, 98.0)
    assert History().estimate(job("y", 1, 0.0)) is None


def test_the_learned_mix_fades() -> None:
    week = 7 * 86400.0
    old = LearnedMix().with_tasks([job(f"a{i}", 1, 0.0) for i in range(40)], 0.0)
    new = old.with_tasks([job(f"b{i}", 2, 0.0) for i in range(20)], 2 * week)
    mix = new.mix()
    assert mix is not None
    assert {entry.gpu.count: round(entry.share, 3) for entry in mix.entries if entry.gpu} == {2: 0.667, 1: 0.333}


def over(start: float, end: float, arrivals: list[Arrival], count: int = 1, **fields: Any) -> Report:
    return simulate(nodes(count), arrivals, grid=Grid(start, end, 10), **fields)


def test_what_ran_when_the_span_began_holds_its_cards_and_is_not_asked_to_wait() -> None:
    before = Arrival(job("before", 4, -500.0), 50.0, carried=True)
    queued = Arrival(job("queued", 4, -900.0), 10.0)
    report = over(0.0, 100.0, [queued, before])
    assert [(r.task.id, r.started_at, r.ended_at, r.wait_s, r.carried) for r in report.records] == [
        ("before", 0.0, 50.0, 0.0, True),
        ("queued", 50.0, 60.0, 50.0, False),
    ]


def test_the_end_of_the_span_cuts_off_and_says_so() -> None:
    endless = Arrival(job("endless", 4, 10.0), float("inf"), startup_s=5.0)
    late = Arrival(job("late", 4, 20.0), 10.0)
    after = Arrival(job("after", 4, 100.0), 10.0)
    report = over(0.0, 100.0, [endless, late, after])
    assert report.records == ()
    assert [(r.task.id, r.fate, r.ran_s, r.wait_s) for r in report.unfinished] == [
        ("endless", Fate.CUT, 85.0, 0.0),
        ("late", Fate.WAITING, 0.0, 80.0),
    ]
    assert report.never_started == ("late",)
    assert report.busy_gpu_s == 4 * 90.0
    assert sum(s.used_milli for s in report.samples) * 10 == 4000 * 90.0
    assert report.span_s == 100.0


def test_who_gave_up_waiting_gives_up_again_unless_it_starts_before() -> None:
    first = Arrival(job("first", 4, 0.0), 30.0)
    impatient = Arrival(job("impatient", 4, 1.0), 5.0, gives_up_s=20.0)
    patient = Arrival(job("patient", 4, 2.0), 5.0, gives_up_s=60.0)
    report = over(0.0, 100.0, [first, impatient, patient])
    assert [(r.task.id, r.fate, r.wait_s) for r in report.unfinished] == [("impatient", Fate.WITHDRAWN, 20.0)]
    assert [(r.task.id, r.started_at) for r in report.records] == [("first", 0.0), ("patient", 30.0)]
    assert not report.never_started


def test_each_start_after_an_eviction_spends_its_start_up_again_and_runs_on() -> None:
    low = Arrival(job("low", 4, 0.0, priority=1), 100.0, startup_s=10.0)
    urgent = Arrival(job("urgent", 4, 50.0, priority=5), 20.0)
    report = simulate(nodes(1), [low, urgent], rules=Rules(notice_s=5.0))
    ended = {r.task.id: r for r in report.records}
    assert (ended["low"].ran_s, ended["low"].ended_at, ended["low"].evictions) == (100.0, 75.0 + 10.0 + 55.0, 1)
    assert ended["low"].held_gpu_s == 4 * 120.0


def test_a_waiting_task_takes_what_may_be_taken_once_its_minimum_run_is_over() -> None:
    low = Arrival(job("low", 4, 0.0, priority=1, min_runtime_s=60.0), 1000.0)
    urgent = Arrival(job("urgent", 4, 10.0, priority=5), 20.0)
    rules = Rules(notice_s=5.0, reservations=0)
    report = over(0.0, 2000.0, [low, urgent], rules=rules, look_again_s=30.0)
    assert {r.task.id: r.started_at for r in report.records}["urgent"] == 75.0
    patient = over(0.0, 2000.0, [low, urgent], rules=rules)
    assert {r.task.id: r.started_at for r in patient.records}["urgent"] == 1000.0


def test_fragments_are_cards_on_which_nothing_usual_fits() -> None:
    small = Arrival(job("small", 1, 0.0), 100.0)
    wide = [Arrival(job(f"wide{i:02d}", 4, 1.0), 1.0) for i in range(30)]
    report = over(0.0, 100.0, [small, *wide])
    last = report.samples[0]
    assert (last.total_milli, last.idle_milli, last.fragment_milli, last.waiting) == (4000, 3000, 3000, 30)


def test_recent_use_is_kept_as_the_platform_keeps_it() -> None:
    week = 7 * 86400.0
    queue = Queue(QueueLevel.ORGANISATION, "alice-lab", "alice-lab", decayed_usage={"*": 1000.0})
    use = RecentUse([queue], 0.0, kept=True)
    assert use.queues(week)[0].decayed_usage == {"*": 500.0}
    use.change("alice-lab", week, {"*": 2000, "cpu_milli": 10})
    step = RecentUse([replace(queue, decayed_usage={"*": 500.0})], 0.0, kept=True)
    step.change("alice-lab", 0.0, {"*": 2000, "cpu_milli": 10})
    whole = step.queues(week)[0].decayed_usage
    halves = [use.queues(week + t)[0].decayed_usage for t in (week / 3, week)][-1]
    assert whole == pytest.approx(halves)
    half = week / math.log(2) / 2
    assert whole == pytest.approx({"*": 250.0 + 2000 * half, "cpu_milli": 10 * half})
    use.change("alice-lab", 2 * week, {"*": 2000, "cpu_milli": 10}, -1)
    assert use.queues(3 * week)[0].decayed_usage == pytest.approx({name: used / 2 for name, used in halves.items()})
    assert RecentUse([queue], 0.0, kept=False).queues(week) == (queue,)


@steady
@given(shapes, st.integers(10, 900))
def test_a_span_of_a_replay_is_accounted_for_to_the_second(
    shape: list[tuple[int, int, int, int, str]], end: int
) -> None:
    report = over(0.0, float(end), arrivals_of(shape), count=2, rules=Rules(notice_s=5.0), keep_use=True)
    seen = sorted(r.task.id for r in (*report.records, *report.unfinished))
    assert seen == sorted(f"j{i:02d}" for i, (_, _, at, _, _) in enumerate(shape) if at < end)
    held = sum(r.held_gpu_s for r in (*report.records, *report.unfinished))
    assert abs(held - sum(s.used_milli / 1000 for s in report.samples) * end / 10) < 1e-3
    assert all(s.total_milli == 8000 for s in report.samples)
    assert all(r.ran_s <= r.task.submitted_at + end for r in report.unfinished)


def test_a_replay_in_which_everything_ends_has_nobody_left_who_was_pushed_aside() -> None:
    report = simulate(nodes(1), [Arrival(job("alone", 1, 0.0), 10.0)])
    assert (len(report.records), report.unfinished, report.evictions) == (1, (), 0)


def test_the_last_bucket_of_a_grid_ends_with_the_span() -> None:
    grid = Grid(255.1, 751.0, 120)
    assert grid.start + grid.buckets * grid.width != grid.end  # what sums up to the end misses it by rounding
    assert (grid.edge(119), grid.edge(500)) == (751.0, 751.0)
    assert grid.edge(0) == grid.start + grid.width
