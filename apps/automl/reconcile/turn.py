"""The loop of experiments: one turn of one of them. Safe to repeat, and to be killed between any two statements.

A turn takes a claim, whose fence is asked again in each transaction that writes. Trials are made as rows first, under
their numbers; the run of each is submitted by a key of the trial's, so a turn that follows a killed one finds the same
run. Nothing of a search is in memory: the next suggestions follow from the rows.
"""

from django.db.models import QuerySet

from apps.automl import states
from apps.automl.choices import LIVE, ExperimentStatus, Hurdle, TrialStatus
from apps.automl.models import Experiment, Trial
from apps.automl.reconcile import deciding, pruning, settling, sharing, starting, suggesting
from apps.automl.reconcile.claims import EXPERIMENTS
from apps.common.actor import Actor
from apps.training.driving import stop_run

LIVELY_S, RESTING_S = 2.0, 10.0


def advance_due(actor: Actor) -> int:
    """Look at every experiment that is due; how many."""
    return EXPERIMENTS.advance_due(actor, advance)


def advance(actor: Actor, experiment: Experiment) -> None:
    """One turn. Raises `ClaimLost`."""
    settling.settle(actor, experiment)
    deciding.decide(actor, experiment)
    experiment.refresh_from_db(fields=["status", "reason", "paused_at"])
    hurdle = Hurdle.NONE
    if experiment.status == ExperimentStatus.RUNNING:
        pruning.prune(actor, experiment)
        hurdle = suggesting.fill(actor, experiment)
        if starting.waiting_trials(experiment).exists():
            sharing.offer_to_poorer(actor, experiment)
        hurdle = starting.start_waiting(actor, experiment) or hurdle
        experiment.refresh_from_db(fields=["status", "reason"])
    if experiment.status == ExperimentStatus.ENDING:
        _stop_all(actor, experiment)
        settling.settle(actor, experiment)
        if states.finish(actor, experiment):
            return
    EXPERIMENTS.release(experiment, again_s=_pause(experiment, hurdle), hurdle=hurdle)


def _stop_all(actor: Actor, experiment: Experiment) -> None:
    live = list(_live(experiment))
    states.ask_to_end(live, TrialStatus.STOPPED)
    for trial in live:
        if trial.run is None:
            starting.end_unstarted(actor, trial)
        elif trial.run.workload.is_live:
            stop_run(actor, trial.run)


def _live(experiment: Experiment) -> QuerySet[Trial]:
    rows: QuerySet[Trial] = Trial.objects.filter(experiment=experiment, status__in=sorted(LIVE))
    return rows.select_related("run__workload")


def _pause(experiment: Experiment, hurdle: Hurdle) -> float:
    if hurdle:
        return starting.HINDERED_S
    return RESTING_S if experiment.paused_at and not _live(experiment).exists() else LIVELY_S
