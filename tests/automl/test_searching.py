"""An experiment from its start to its end: trials are made, started as runs, judged, and counted."""

import pytest

from apps.automl import services
from apps.automl.choices import EndReason, ExperimentStatus, Hurdle, ResumePolicy, TrialStatus
from apps.automl.search.goals import Direction, Objective
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, QuotaExceeded
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.training import services as runs
from apps.workloads import announce
from apps.workloads.choices import Reason, Status
from tests.automl.kit import LOSS, Bench
from tests.builders import platform

pytestmark = pytest.mark.django_db


def test_as_many_trials_start_as_may_run_at_a_time(bench: Bench) -> None:
    experiment = bench.create(parallel=2)
    bench.turn(experiment)
    first, second = bench.trials(experiment)
    assert (first.number, second.number) == (1, 2)
    assert first.status == second.status == TrialStatus.RUNNING
    assert first.values != second.values


def test_a_trial_is_the_run_again_with_other_values(bench: Bench) -> None:
    experiment = bench.create(parallel=1)
    bench.turn(experiment)
    run = bench.trials(experiment)[0].run
    assert run is not None
    values = bench.trials(experiment)[0].values
    assert run.arguments == [["--lr", repr(values["lr"])], ["--epochs", "3"], ["--layers", str(values["layers"])]]
    assert (run.name, run.version, run.parent_id) == ("digits tuning 1", 1, None)
    assert (run.code_id, run.image_id) == (bench.template.code_id, bench.template.image_id)


def test_the_next_one_starts_when_one_has_ended(bench: Bench) -> None:
    experiment = bench.create(parallel=1)
    bench.turn(experiment)
    bench.finish(bench.trials(experiment)[0], 0.5)
    bench.turn(experiment)
    first, second = bench.trials(experiment)
    assert (first.status, first.objectives) == (TrialStatus.SUCCEEDED, [0.5])
    assert second.status == TrialStatus.RUNNING


def test_it_ends_once_all_its_trials_are_done(bench: Bench) -> None:
    experiment = bench.create(parallel=4, most_trials=4)
    bench.turn(experiment)
    for trial in bench.trials(experiment):
        bench.finish(trial, 0.1 * trial.number)
    ended = bench.turn(experiment)
    assert (ended.status, ended.reason) == (ExperimentStatus.SUCCEEDED, EndReason.ALL_TRIALS)
    assert ended.ended_at is not None


def test_a_grid_that_is_exhausted_ends_it(bench: Bench) -> None:
    experiment = bench.create(parallel=12, most_trials=40)
    bench.turn(experiment)
    assert len(bench.trials(experiment)) == 12
    for trial in bench.trials(experiment):
        bench.finish(trial, 1.0)
    assert bench.turn(experiment).reason == EndReason.EXHAUSTED


@pytest.mark.parametrize(("loss", "reached"), [(0.1, True), (0.2, True), (0.3, False)])
def test_a_goal_that_is_reached_ends_it_and_stops_the_others(bench: Bench, loss: float, reached: bool) -> None:
    goal = Objective(metric="loss", direction=Direction.MINIMIZE, goal=0.2)
    experiment = bench.create(parallel=2, objectives=(goal,))
    bench.turn(experiment)
    first, _second = bench.trials(experiment)
    bench.finish(first, loss)
    after = bench.turn(experiment)
    assert (after.reason == EndReason.GOAL) is reached
    asked = bench.trials(experiment)[1]
    assert (asked.asked == TrialStatus.STOPPED) is reached
    if reached:
        assert after.status == ExperimentStatus.SUCCEEDED  # what waited in the queue has ended at once
        assert asked.status == TrialStatus.STOPPED


def test_what_is_borne_of_failures_is_one_fewer_than_what_ends_it(bench: Bench) -> None:
    experiment = bench.create(parallel=1, most_trials=10, most_failed=1)
    for _ in range(2):
        bench.turn(experiment)
        bench.end(bench.running(experiment)[0], Status.FAILED, Reason.EXIT_CODE)
        after = bench.turn(experiment)
    assert (after.status, after.reason) == (ExperimentStatus.FAILED, EndReason.FAILED_TRIALS)
    assert [each.status for each in bench.trials(experiment)] == [TrialStatus.FAILED] * 2


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_a_metric_that_never_came_or_is_no_number_counts_as_a_failure(bench: Bench, value: float | None) -> None:
    experiment = bench.create(parallel=1, most_failed=0)
    bench.turn(experiment)
    trial = bench.trials(experiment)[0]
    if value is not None:
        bench.say(trial, value)
    bench.end(trial)
    after = bench.turn(experiment)
    assert bench.trials(experiment)[0].status == TrialStatus.UNMEASURED
    assert after.reason == EndReason.FAILED_TRIALS


def test_a_trial_that_gave_way_is_not_a_failed_one(bench: Bench) -> None:
    """Its workload queues again: nothing has ended."""
    experiment = bench.create(parallel=1, most_failed=0)
    bench.turn(experiment)
    trial = bench.trials(experiment)[0]
    assert trial.run is not None
    trial.run.workload.reason = Reason.PREEMPTED
    with acting(platform()):
        trial.run.workload.save(update_fields=["reason"])
    assert bench.turn(experiment).status == ExperimentStatus.RUNNING
    assert bench.trials(experiment)[0].status == TrialStatus.RUNNING


def test_a_trial_that_a_person_stopped_is_no_failure(bench: Bench) -> None:
    experiment = bench.create(parallel=1, most_failed=0, most_trials=2)
    bench.turn(experiment)
    trial = bench.trials(experiment)[0]
    with acting(bench.world.actor):
        services.stop_trial(bench.world.actor, trial)
    after = bench.turn(experiment)
    assert after.status == ExperimentStatus.RUNNING
    assert [each.status for each in bench.trials(experiment)] == [TrialStatus.STOPPED, TrialStatus.RUNNING]


def test_until_all_that_it_said_is_read_an_ended_run_is_not_judged(bench: Bench) -> None:
    experiment = bench.create(parallel=1, most_failed=0)
    bench.turn(experiment)
    trial = bench.trials(experiment)[0]
    assert trial.run is not None
    with acting(platform()):
        workload = trial.run.workload
        workload.status, workload.started_at, workload.ended_at = Status.SUCCEEDED, db_now(), db_now()
        workload.save(update_fields=["status", "started_at", "ended_at"])
    bench.turn(experiment)
    assert bench.trials(experiment)[0].status == TrialStatus.RUNNING
    bench.finish(trial, 0.25)
    bench.turn(experiment)
    assert bench.trials(experiment)[0].objectives == [0.25]


@pytest.mark.parametrize(("strategy", "expected"), [(None, 0.2), ("latest", 0.9), ("max", 0.9), ("min", 0.2)])
def test_which_value_of_a_run_counts(bench: Bench, strategy: str | None, expected: float) -> None:
    experiment = bench.create(parallel=1, strategy=strategy)
    bench.turn(experiment)
    trial = bench.trials(experiment)[0]
    bench.say(trial, 0.5, 0.2, 0.9)
    bench.end(trial)
    bench.turn(experiment)
    assert bench.trials(experiment)[0].objectives == [expected]


def test_paused_it_starts_no_trial_and_goes_on_after(bench: Bench) -> None:
    experiment = bench.create(parallel=1)
    actor = bench.world.actor
    with acting(actor):
        services.pause(actor, experiment, paused=True)
    bench.turn(experiment)
    assert bench.trials(experiment) == []
    with acting(actor):
        services.pause(actor, experiment, paused=False)
    bench.turn(experiment)
    assert len(bench.trials(experiment)) == 1


def test_stopped_it_stops_its_trials_and_ends(bench: Bench) -> None:
    experiment = bench.create(parallel=2)
    bench.turn(experiment)
    with acting(bench.world.actor):
        services.stop(bench.world.actor, experiment)
    ended = bench.turn(experiment)
    assert (ended.status, ended.reason) == (ExperimentStatus.STOPPED, EndReason.BY_PERSON)
    assert {run.workload.status for run in bench.runs_of(experiment)} == {Status.STOPPED}
    with acting(bench.world.actor), pytest.raises(Conflict):
        services.stop(bench.world.actor, ended)


def test_without_quota_trials_wait_and_start_by_themselves(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = bench.create(parallel=2)
    submit = runs.submit

    def refused(*args: object) -> None:
        raise QuotaExceeded("no")

    monkeypatch.setattr(runs, "submit", refused)
    after = bench.turn(experiment)
    assert (after.status, after.hurdle) == (ExperimentStatus.RUNNING, Hurdle.QUOTA)
    assert [each.status for each in bench.trials(experiment)] == [TrialStatus.WAITING] * 2
    monkeypatch.setattr(runs, "submit", submit)
    after = bench.turn(experiment)
    assert after.hurdle == Hurdle.NONE
    assert [each.status for each in bench.trials(experiment)] == [TrialStatus.RUNNING] * 2
    assert len(bench.runs_of(experiment)) == 2


def test_a_run_that_cannot_be_started_any_more_ends_it_with_the_reason(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: object) -> None:
        raise Invalid.field("image", "The image is gone.")

    experiment = bench.create(parallel=2)
    monkeypatch.setattr(runs, "submit", refused)
    ended = bench.turn(experiment)
    assert (ended.status, ended.reason) == (ExperimentStatus.FAILED, EndReason.TEMPLATE_LOST)
    assert "The image is gone." in ended.reason_data["said"]


def test_ended_it_goes_on_with_all_that_it_knows(bench: Bench) -> None:
    experiment = bench.create(parallel=4, most_trials=4)
    bench.turn(experiment)
    for trial in bench.trials(experiment):
        bench.finish(trial, 1.0)
    bench.turn(experiment)
    with acting(bench.world.actor):
        services.go_on(bench.world.actor, bench.reload(experiment), more=2)
    assert bench.turn(experiment).status == ExperimentStatus.RUNNING
    trials = bench.trials(experiment)
    assert [each.number for each in trials] == [1, 2, 3, 4, 5, 6]
    assert len({str(each.values) for each in trials}) == 6  # the grid goes on where it was


def test_one_that_is_final_does_not_go_on(bench: Bench) -> None:
    experiment = bench.create(resume_policy=ResumePolicy.NEVER)
    with acting(bench.world.actor):
        services.stop(bench.world.actor, experiment)
    ended = bench.turn(experiment)
    with acting(bench.world.actor), pytest.raises(Conflict):
        services.go_on(bench.world.actor, ended, more=1)
    assert bench.reload(experiment).status == ExperimentStatus.STOPPED


def test_fewer_at_a_time_stops_nobody_and_more_start_at_once(bench: Bench) -> None:
    experiment, actor = bench.create(parallel=2, most_trials=6), bench.world.actor
    bench.turn(experiment)
    for parallel, live in ((1, 2), (4, 4)):
        with acting(actor):
            services.change(
                actor, bench.reload(experiment), parallel=parallel, most_trials=6, most_failed=1, budget_fen=None
            )
        bench.turn(experiment)
        assert len(bench.running(experiment)) == live


def test_the_ends_of_trials_are_not_told_one_by_one(bench: Bench) -> None:
    experiment = bench.create(parallel=1)
    bench.turn(experiment)
    trial = bench.trials(experiment)[0]
    bench.finish(trial, 0.5)
    assert trial.run is not None
    with acting(platform()) as actor:
        trial.run.workload.refresh_from_db()
        announce.status_changed(actor, trial.run.workload, Status.RUNNING)
        assert not Notice.objects.filter(kind="run.finished").exists()


def test_two_objectives_are_both_measured(bench: Bench) -> None:
    second = Objective(metric="size", direction=Direction.MINIMIZE)
    experiment = bench.create(parallel=1, objectives=(LOSS, second))
    bench.turn(experiment)
    trial = bench.trials(experiment)[0]
    bench.say(trial, 0.5)
    bench.say(trial, 10.0, metric="size")
    bench.end(trial)
    bench.turn(experiment)
    assert bench.trials(experiment)[0].objectives == [0.5, 10.0]
