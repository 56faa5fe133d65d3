"""Trials that run and are not worth going on: stopped at once, and charged no more from their end on."""

from apps.automl import states
from apps.automl.choices import TrialStatus
from apps.automl.models import Experiment, Trial
from apps.automl.reconcile.asking import early_stopping_of, inquiry, looks_at_curves
from apps.automl.reconcile.claims import EXPERIMENTS
from apps.automl.search import process
from apps.common.actor import Actor
from apps.training.driving import stop_run
from apps.workloads.choices import Reason


def prune(actor: Actor, experiment: Experiment) -> int:
    """How many were asked to end. First every one that was asked before and goes on all the same."""
    if not looks_at_curves(experiment):
        return 0
    running = Trial.objects.filter(experiment=experiment, status=TrialStatus.RUNNING).select_related("run__workload")
    unasked = [each for each in running if not each.asked and _is_live(each)]
    if unasked:
        numbers = process.prune(inquiry(experiment, count=0), early_stopping_of(experiment))
        with EXPERIMENTS.writing(experiment):
            states.ask_to_end([each for each in unasked if each.number in numbers], TrialStatus.PRUNED)
    asked = [each for each in running.filter(asked=TrialStatus.PRUNED) if _is_live(each)]
    return sum(stop_run(actor, each.run, Reason.PRUNED) for each in asked if each.run is not None)


def _is_live(trial: Trial) -> bool:
    return trial.run is not None and trial.run.workload.is_live
