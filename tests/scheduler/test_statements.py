"""What owners say of their tasks: an estimate from the first day on, on which nobody else's start rests before it is
proven. Statements are often wrong; an overrun breaks no promise and blocks nobody."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler import CauseCode, Engine, Plan, Snapshot, Task, plan
from scheduler.estimate import ENOUGH, KEEP, History, Prediction, Sample
from scheduler.simulate import Arrival, Promises, simulate
from tests.scheduler.test_backfill import job, nodes, running
from tests.scheduler.worlds import steady


def said(task: Task, history: History | None = None, elapsed_s: float = 0.0) -> Task:
    """With the estimates that follow from what its owner says."""
    found = (history or History()).predict(task, elapsed_s)
    assert found is not None
    return replace(task, estimate_p50_s=found.p50_s, estimate_p90_s=found.p90_s, unproven=found.unproven)


def truthful(count: int, ratio: float = 1.0) -> History:
    """So many statements that turned out at this ratio."""
    history = History()
    for number in range(count):
        history.record(job(f"past-{number}", 1, None, stated_s=100.0), 100.0 * ratio)
    return history


def test_a_start_is_known_on_the_first_day_where_owners_say_how_long_they_run() -> None:
    wide = job("wide", 4, None)
    (silent,) = plan(Snapshot(nodes(1), (running(job("busy", 2, None), "n0", range(2)),), (wide,)), 0.0).waits
    assert (silent.guessed, silent.is_start_known) == (True, False)
    busy = running(said(job("busy", 2, None, stated_s=100.0)), "n0", range(2))
    (told,) = plan(Snapshot(nodes(1), (busy,), (wide,)), 0.0).waits
    assert (told.guessed, told.is_start_known) == (True, True)  # shown, and it keeps nobody waiting
    assert (told.start_p50, told.start_p90) == (100.0, 200.0)


def test_a_limit_alone_is_an_estimate_too() -> None:
    assert History().predict(job("x", 1, None, limit_s=60.0)) == Prediction(60.0, 60.0)
    assert History().predict(job("x", 1, None)) is None


def test_a_statement_alone_lets_nobody_run_in_front_of_others() -> None:
    """`short` says that it ends in time; only a limit, or statements that came true, are believed."""
    busy = running(job("busy", 2, 100.0), "n0", range(2))
    wide, short = job("wide", 4, 50.0), job("short", 1, None, at=1.0, stated_s=40.0)
    for believed, task in (
        (False, said(short)),
        (True, said(replace(short, limit_s=90.0))),
        (False, said(short, truthful(ENOUGH - 1))),
        (True, said(short, truthful(ENOUGH))),
        (False, said(short, truthful(2 * ENOUGH, ratio=5.0))),
    ):
        outcome = plan(Snapshot(nodes(1), (busy,), (wide, task)), 0.0)
        assert [place.task_id for place in outcome.places] == (["short"] if believed else [])
        if not believed:
            wait = outcome.wait_for("short")
            assert wait is not None
            assert wait.cause.code is CauseCode.BEHIND_RESERVATION


def test_it_is_corrected_by_how_earlier_statements_turned_out() -> None:
    task = job("x", 1, None, stated_s=1000.0)
    assert History().predict(task) == Prediction(1000.0, 2000.0, unproven=True)
    found = truthful(190, ratio=3.0).predict(task)
    assert found == Prediction(3000.0, 3000.0)
    elsewhere = replace(task, organisation="others", user="bob")
    assert truthful(190, ratio=3.0).predict(elsewhere) == found  # everybody's, where one's own are not known


def test_before_it_is_proven_it_is_never_more_hopeful_than_the_history() -> None:
    history = History()
    for number in range(ENOUGH):
        history.record(job(f"past-{number}", 1, None), 5000.0)
    assert history.predict(job("x", 1, None, stated_s=100.0)) == Prediction(100.0, 5000.0)


@pytest.mark.parametrize("elapsed", [150.0, 250.0, 10_000.0])
def test_what_runs_for_longer_than_was_said_is_expected_to_go_on(elapsed: float) -> None:
    found = History().predict(job("x", 1, None, stated_s=100.0), elapsed)
    assert found is not None
    assert elapsed < found.p50_s <= found.p90_s <= 1.25 * max(elapsed, 200.0)


@steady
@given(
    st.none() | st.floats(1, 1e6),
    st.none() | st.floats(60, 1e6),
    st.floats(0, 2e6),
    st.lists(st.tuples(st.none() | st.floats(1, 1e5), st.floats(0, 1e5)), max_size=40),
)
def test_every_prediction_is_ahead_in_order_and_within_its_limit(
    stated: float | None, limit: float | None, elapsed: float, past: list[tuple[float | None, float]]
) -> None:
    history = History()
    for number, (was_stated, took) in enumerate(past):
        history.record(job(f"past-{number}", 1, None, stated_s=was_stated), took)
    found = history.predict(job("x", 1, None, stated_s=stated, limit_s=limit), elapsed)
    known = len(past) >= ENOUGH
    assert (found is None) == (stated is None and not known and (limit is None or elapsed >= limit))
    if found is None:
        return
    assert 0 <= found.p50_s <= found.p90_s + 1e-6
    if limit is not None and elapsed < limit:
        assert found.p90_s <= limit
    if elapsed:
        assert found.p50_s >= min(elapsed, limit or elapsed) * (1 - 1e-9)
    assert not (found.unproven and (known or (limit is not None and elapsed < limit)))


honest = st.lists(st.tuples(st.integers(1, 4), st.integers(10, 300), st.integers(0, 400)), min_size=1, max_size=8)
# Cards, what is said, how often that is what it takes, when it comes.
wrong = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 400), st.floats(0.01, 30, allow_nan=False), st.integers(0, 400)),
    max_size=8,
)


@steady
@given(honest, wrong, st.integers(1, 2))
def test_a_wrong_statement_breaks_no_promise_and_blocks_nobody(
    shape: list[tuple[int, int, int]], lies: list[tuple[int, int, float, int]], count: int
) -> None:
    """Tasks of which only their owners' word is known run in front of others without delaying a start that was
    promised before any of them held or was promised room; and whatever they take, everybody starts in the end."""
    arrivals = [
        Arrival(job(f"j{i:02d}", cards, float(run), float(at)), float(run)) for i, (cards, run, at) in enumerate(shape)
    ] + [
        Arrival(said(job(f"lie{i:02d}", cards, None, float(at), stated_s=float(told), priority=1)), told * factor)
        for i, (cards, told, factor, at) in enumerate(lies)
    ]
    promised: dict[str, float] = {}

    def decide(engine: Engine, waiting: Sequence[Task], now: float, promises: Promises) -> Plan:
        outcome = engine.plan(waiting, now, promised=promises)
        head = next(iter(outcome.waits), None)
        placed = {place.task_id for place in outcome.places}
        lying = any(member.task.unproven for row in engine.roster.on_row.values() for member in row)
        lying |= any(task.unproven for task in waiting if task.id in placed or task.id in promises)
        if head is not None and head.start_p50 is not None and not lying and not head.task_id.startswith("lie"):
            promised.setdefault(head.task_id, head.start_p50)
        return outcome

    report = simulate(nodes(count), arrivals, decide=decide)
    assert not report.never_started
    for record in report.records:
        if record.task.id in promised:
            assert record.started_at <= promised[record.task.id] + 1e-6


def test_only_the_last_durations_of_a_group_count() -> None:
    sample = Sample()
    for seconds in (*[9000.0] * KEEP, *[60.0] * KEEP):
        sample.add(seconds)
    assert (sample.quantile(0.0), sample.quantile(1.0)) == (60.0, 60.0)


def test_what_ends_within_a_second_counts_as_well() -> None:
    history = History()
    for number in range(ENOUGH):
        history.record(job(f"past-{number}", 1, None), 0.25)
    assert history.estimate(job("x", 1, None)) == (0.25, 0.25)
    assert history.predict(job("x", 1, None)) == Prediction(0.25, 0.25)
    assert Sample(ordered=[0.25, 3.0]).quantile(0.0) == 0.25
