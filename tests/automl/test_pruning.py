"""A trial that runs and is worse than the others is stopped, counts as no failure, and is charged no more."""

import pytest

from apps.automl.choices import ExperimentStatus, TrialStatus
from apps.automl.search.early_stopping import EarlyStopping, EarlyStoppingKind
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload
from tests.automl.kit import Bench
from tests.builders import platform

pytestmark = pytest.mark.django_db
MEDIAN = EarlyStopping(kind=EarlyStoppingKind.MEDIAN, start_step=3, min_trials=2)
GOOD, BAD = (0.5, 0.4, 0.3, 0.2), (9.0, 9.0, 9.0)


@pytest.mark.parametrize(
    ("curve", "stopped"), [(BAD, True), (BAD[:2], False), ((0.1, 0.1, 0.1), False), ((9.0, 9.0, 0.1), False)]
)
def test_what_is_worse_than_the_median_is_stopped(bench: Bench, curve: tuple[float, ...], stopped: bool) -> None:
    """Not before it has said enough, and never for a bad beginning that it has made good."""
    experiment = bench.create(parallel=1, most_trials=4, most_failed=0, early_stopping=MEDIAN)
    for _ in range(2):
        bench.turn(experiment)
        trial = bench.running(experiment)[0]
        bench.say(trial, *GOOD)
        bench.end(trial)
    bench.turn(experiment)
    third = bench.running(experiment)[0]
    bench.say(third, *curve)
    bench.turn(experiment)
    after = bench.trials(experiment)[2]
    assert (after.asked == TrialStatus.PRUNED) is stopped
    assert after.run is not None
    assert (after.run.workload.reason == Reason.PRUNED) is stopped


def test_a_pruned_trial_keeps_what_it_reached_and_fails_nobody(bench: Bench) -> None:
    experiment = bench.create(parallel=1, most_trials=3, most_failed=0, early_stopping=MEDIAN)
    for _ in range(2):
        bench.turn(experiment)
        trial = bench.running(experiment)[0]
        bench.say(trial, *GOOD)
        bench.end(trial)
    bench.turn(experiment)
    bench.say(bench.running(experiment)[0], *BAD)
    bench.turn(experiment)
    ended = bench.turn(experiment)
    trial = bench.trials(experiment)[2]
    assert (trial.status, trial.objectives) == (TrialStatus.PRUNED, [9.0])
    assert trial.curve == [[1, 9.0], [2, 9.0], [3, 9.0]]
    assert ended.status == ExperimentStatus.SUCCEEDED


def test_one_that_ends_well_while_it_is_asked_has_ended_well(bench: Bench) -> None:
    """Its program was quicker: what it reached counts as that of any other."""
    experiment = bench.create(parallel=1, most_trials=3, early_stopping=MEDIAN)
    for _ in range(2):
        bench.turn(experiment)
        trial = bench.running(experiment)[0]
        bench.say(trial, *GOOD)
        bench.end(trial)
    bench.turn(experiment)
    third = bench.running(experiment)[0]
    assert third.run is not None
    with acting(platform()):  # it is on a machine, so that a stop takes its time
        rows = Workload.objects.filter(pk=third.run.workload_id)
        rows.update(status=Status.RUNNING, started_at=db_now())
    bench.say(third, *BAD)
    bench.turn(experiment)
    assert bench.trials(experiment)[2].asked == TrialStatus.PRUNED
    bench.say(third, 0.1)
    bench.end(third)
    bench.turn(experiment)
    after = bench.trials(experiment)[2]
    assert (after.status, after.objectives) == (TrialStatus.SUCCEEDED, [0.1])
