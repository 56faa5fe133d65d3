"""Trials whose runs have ended: what each reached, and what it counts as."""

from collections.abc import Sequence

from apps.automl import measuring, states
from apps.automl.choices import LIVE, TrialStatus
from apps.automl.models import Experiment, Trial
from apps.automl.reconcile import starting
from apps.automl.reconcile.claims import EXPERIMENTS
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.training.driving import is_read
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload

# Ended by a limit that its owner gave to each trial: what it had reached by then is its result.
_LIMITS = frozenset({Reason.LONGEST, Reason.CAP})


def settle(actor: Actor, experiment: Experiment) -> int:
    """How many have ended. A run that gave way waits again, as any other, and its trial with it."""
    rows = Trial.objects.filter(experiment=experiment, status__in=sorted(LIVE)).select_related("run__workload")
    ended, now = 0, db_now()
    for trial in list(rows):
        if trial.run is None:
            ended += _end_unstarted(actor, experiment, trial)
        elif not trial.run.workload.is_live and (
            trial.asked == TrialStatus.STOPPED or is_read(trial.run.workload, now)
        ):
            ended += _end(experiment, trial, trial.run.workload)
    return ended


def _end_unstarted(actor: Actor, experiment: Experiment, trial: Trial) -> bool:
    """One that was given up before it had a run."""
    if not trial.asked:
        return False
    with EXPERIMENTS.writing(experiment):
        return starting.end_unstarted(actor, trial)


def _end(experiment: Experiment, trial: Trial, workload: Workload) -> bool:
    objectives = measuring.measured(experiment, workload.pk)
    curve = measuring.curves_of(experiment, [workload.pk]).get(workload.pk, ())
    status = status_of(trial, workload, objectives)
    kept = objectives if status in (TrialStatus.SUCCEEDED, TrialStatus.PRUNED) else None
    with EXPERIMENTS.writing(experiment):
        return states.end_trial(trial, status, kept, curve)


def status_of(trial: Trial, workload: Workload, objectives: Sequence[float] | None) -> TrialStatus:
    """A run that ended well by itself counts as such, also where it was asked to end just then."""
    if workload.status == Status.FAILED:
        return TrialStatus.FAILED
    finished = workload.status == Status.SUCCEEDED or (not trial.asked and workload.reason in _LIMITS)
    if finished:
        return TrialStatus.SUCCEEDED if objectives is not None else TrialStatus.UNMEASURED
    return TrialStatus.PRUNED if trial.asked == TrialStatus.PRUNED else TrialStatus.STOPPED
