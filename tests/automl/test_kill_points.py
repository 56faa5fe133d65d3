"""Whoever advances an experiment may die between any two statements: no trial is lost, none is run twice."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.automl import services
from apps.automl.choices import LIVE, OPEN, ExperimentStatus, TrialStatus
from apps.automl.models import Experiment
from apps.automl.reconcile import settling, starting, suggesting, turn
from apps.automl.reconcile.claims import EXPERIMENTS
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.common.turns import ClaimLost, Turns
from tests.automl.kit import Bench
from tests.builders import platform

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """As by a signal: nothing catches it."""


def dies(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, *, after: bool, at: int) -> Callable[[], None]:
    """The process dies before or after the `at`-th call; returns what brings the original back."""
    original, calls = getattr(where, name), Counter[str]()

    def dying(*args: Any, **kwargs: Any) -> Any:
        calls["n"] += 1
        if calls["n"] == at and not after:
            raise Killed
        found = original(*args, **kwargs)
        if calls["n"] == at:
            raise Killed
        return found

    monkeypatch.setattr(where, name, dying)
    return lambda: monkeypatch.setattr(where, name, original)


POINTS = [
    (suggesting, "_make"),
    (starting, "_submit"),
    (starting.states, "started"),
    (settling.states, "end_trial"),
    (turn.states, "end"),
    (turn.states, "finish"),
    (Turns, "release"),
    (Turns, "_held"),
]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize(("where", "name"), POINTS, ids=[f"{name}" for _where, name in POINTS])
def test_a_turn_that_was_killed_is_made_good_by_the_next(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, at: int, after: bool
) -> None:
    experiment = bench.create(parallel=2, most_trials=5)
    restore, deaths = dies(monkeypatch, where, name, after=after, at=at), 0
    for _ in range(30):
        try:
            experiment = bench.turn(experiment)
        except Killed:
            deaths += 1
            restore()
            expire(experiment)
        for trial in bench.running(experiment):
            assert trial.run is not None
            if trial.run.workload.is_live and trial.number % 2 == 1:
                bench.finish(trial, 0.1 * trial.number)
            elif trial.run.workload.is_live:
                bench.finish(trial, 1.0)
        experiment = bench.reload(experiment)
        if experiment.status not in OPEN:
            break
    assert deaths <= 1
    assert experiment.status == ExperimentStatus.SUCCEEDED
    all_is_well(bench, experiment, trials=5)


def expire(experiment: Experiment) -> None:
    """The lease of whoever died runs out."""
    with acting(platform()):
        Experiment.objects.filter(pk=experiment.pk).update(lease_until=db_now() - timedelta(seconds=1))


def all_is_well(bench: Bench, experiment: Experiment, *, trials: int) -> None:
    rows, runs = bench.trials(experiment), bench.runs_of(experiment)
    assert [each.number for each in rows] == list(range(1, trials + 1))
    assert len({str(sorted(each.values.items())) for each in rows}) == trials, "a point of the grid was tried twice"
    assert {each.run_id for each in rows} == {each.pk for each in runs}, "a run without a trial, or the other way round"
    assert len(runs) == trials, "a trial was run twice"
    assert all(each.status == TrialStatus.SUCCEEDED for each in rows)


def test_a_slow_claimant_writes_nothing_once_another_has_claimed(bench: Bench) -> None:
    experiment = bench.create(parallel=2)
    with acting(platform()) as actor:
        slow = EXPERIMENTS.claim(experiment.pk)
        assert slow is not None
        assert EXPERIMENTS.claim(experiment.pk) is None
        expire(experiment)
        quick = EXPERIMENTS.claim(experiment.pk)
        assert quick is not None
        turn.advance(actor, quick)
        with pytest.raises(ClaimLost), EXPERIMENTS.writing(slow):
            raise AssertionError("it must not come so far")
    assert len(bench.trials(experiment)) == 2
    assert len([each for each in bench.trials(experiment) if each.status in LIVE]) == 2


def test_a_run_that_nobody_wrote_down_ends_with_its_experiment(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its turn died after it had submitted it; then the experiment was stopped."""
    experiment = bench.create(parallel=1)
    restore = dies(monkeypatch, starting, "_submit", after=True, at=1)
    with pytest.raises(Killed):
        bench.turn(experiment)
    restore()
    expire(experiment)
    with acting(bench.world.actor):
        services.stop(bench.world.actor, experiment)
    bench.turn(experiment)
    ended = bench.turn(experiment)
    assert ended.status == ExperimentStatus.STOPPED
    (run,) = bench.runs_of(experiment)
    assert not run.workload.is_live
    assert bench.trials(experiment)[0].run_id == run.pk


def test_a_run_that_was_submitted_before_a_death_is_the_one_that_counts(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = bench.create(parallel=1)
    restore = dies(monkeypatch, starting, "_submit", after=True, at=1)
    with pytest.raises(Killed):
        bench.turn(experiment)
    restore()
    (before,) = bench.runs_of(experiment)
    assert bench.trials(experiment)[0].run is None
    expire(experiment)
    bench.turn(experiment)
    assert bench.trials(experiment)[0].run_id == before.pk
    assert len(bench.runs_of(experiment)) == 1
