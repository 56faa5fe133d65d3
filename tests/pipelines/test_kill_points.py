"""Whoever advances a run of a pipeline may die between any two statements: no step is lost, none is run twice."""

from typing import Any

import pytest

from apps.common.scoping import acting
from apps.common.turns import ClaimLost, Turns
from apps.pipelines import starting
from apps.pipelines.choices import RunStatus, StepStatus
from apps.pipelines.reconcile import settling, submitting, turn
from apps.pipelines.reconcile.claims import RUNS
from apps.workloads.choices import Reason, Status
from tests.automl.test_kill_points import Killed, dies
from tests.builders import platform
from tests.pipelines.kit import Bench, expire

pytestmark = pytest.mark.django_db

POINTS = [
    (submitting, "_submit"),
    (submitting.states, "started"),
    (settling.states, "end_step"),
    (settling.states, "retry"),
    (turn.states, "finish"),
    (Turns, "release"),
    (Turns, "_held"),
]


@pytest.mark.parametrize(("at", "after"), [(1, False), (2, True)], ids=["before-first", "after-second"])
@pytest.mark.parametrize(("where", "name"), POINTS, ids=[name for _where, name in POINTS])
def test_a_turn_that_was_killed_is_made_good_by_the_next(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, at: int, after: bool
) -> None:
    row = bench.run_of(
        bench.step("a", retries=2), bench.step("b", "a"), bench.step("c", "a: failed"), bench.step("d", "b, c: ended")
    )
    restore, failures = dies(monkeypatch, where, name, after=after, at=at), 0
    for _ in range(30):
        try:
            row = bench.turn(row)
        except Killed:
            restore()
            expire(row)
        for each in bench.living(row):
            failed = each.step == "a" and each.attempt < 3
            failures += failed
            bench.end(each, *((Status.FAILED, Reason.EXIT_CODE) if failed else ()))
        row = bench.reload(row)
        if not row.is_open:
            break
    assert (row.status, failures) == (RunStatus.SUCCEEDED, 2)
    assert bench.statuses(row) == {"a": "succeeded", "b": "succeeded", "c": "skipped", "d": "succeeded"}
    attempts = bench.attempts(row)
    assert [each.attempt for each in attempts if each.step == "a"] == [1, 2, 3]
    runs = {each.run_id for each in attempts if each.run_id}
    assert runs == {run.pk for run in bench.runs_of(row)}, "a run without a step, or the other way round"
    assert len(runs) == 5, "an attempt was run twice"


def test_a_run_that_nobody_wrote_down_ends_with_its_pipeline(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its turn died after it had submitted it; then the pipeline was stopped."""
    row = bench.run_of(bench.step("a"))
    restore = dies(monkeypatch, submitting, "_submit", after=True, at=1)
    with pytest.raises(Killed):
        bench.turn(row)
    restore()
    expire(row)
    with acting(actor := bench.world.actor):
        starting.stop(actor, row)
    row = bench.turn(bench.turn(row))
    assert (row.status, bench.statuses(row)["a"]) == (RunStatus.STOPPED, StepStatus.STOPPED)
    (run,) = bench.runs_of(row)
    assert not run.workload.is_live
    assert bench.last(row)["a"].run_id == run.pk


def test_a_slow_claimant_writes_nothing_once_another_has_claimed(bench: Bench) -> None:
    row = bench.run_of(bench.step("a"))
    with acting(platform()) as actor:
        slow = RUNS.claim(row.pk)
        assert slow is not None
        assert RUNS.claim(row.pk) is None
        expire(row)
        quick = RUNS.claim(row.pk)
        assert quick is not None
        turn.advance(actor, quick)
        turn.advance(actor, slow)
        with pytest.raises(ClaimLost), RUNS.writing(slow):
            raise AssertionError("it must not come so far")
    assert len(bench.runs_of(row)) == 1
