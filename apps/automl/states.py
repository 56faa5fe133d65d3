"""The only place that writes the status of experiments and trials.

An experiment that ends first asks its trials to end, and has ended once none lives. Each write is one conditional
UPDATE: zero rows mean that somebody else was there first.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from apps.audit.services import Target, record
from apps.automl.choices import LIVE, EndReason, ExperimentStatus, Hurdle, TrialStatus
from apps.automl.models import Experiment, Trial
from apps.automl.notices import tell_ended
from apps.common.actor import Actor
from apps.training.models import Run

OUTCOMES: Mapping[EndReason, ExperimentStatus] = MappingProxyType(
    {
        EndReason.ALL_TRIALS: ExperimentStatus.SUCCEEDED,
        EndReason.GOAL: ExperimentStatus.SUCCEEDED,
        EndReason.EXHAUSTED: ExperimentStatus.SUCCEEDED,
        EndReason.BY_PERSON: ExperimentStatus.STOPPED,
        EndReason.BUDGET: ExperimentStatus.STOPPED,
        EndReason.FAILED_TRIALS: ExperimentStatus.FAILED,
        EndReason.TEMPLATE_LOST: ExperimentStatus.FAILED,
        EndReason.OWNER_LOST: ExperimentStatus.FAILED,
        EndReason.SEARCH_FAILED: ExperimentStatus.FAILED,
    }
)


def target(experiment: Experiment) -> Target:
    return Target("experiment", str(experiment.pk), experiment.name)


def end(actor: Actor, experiment: Experiment, reason: EndReason, data: Mapping[str, Any] | None = None) -> bool:
    """Ask it to end; False if it was asked before, or has ended. Its trials are asked by the loop."""
    with transaction.atomic():
        rows = Experiment.objects.filter(pk=experiment.pk, status=ExperimentStatus.RUNNING)
        if not rows.update(
            status=ExperimentStatus.ENDING, reason=reason, reason_data=dict(data or {}), next_at=Now(), paused_at=None
        ):
            return False
        record(
            actor,
            action="experiment.ending",
            organisation_id=experiment.organisation_id,
            target=target(experiment),
            after={"reason": reason.value, **(data or {})},
        )
    return True


def finish(actor: Actor, experiment: Experiment) -> bool:
    """An experiment that is ending has ended, if no trial of it lives; whether that was so."""
    with transaction.atomic():
        row = Experiment.objects.select_for_update().filter(pk=experiment.pk, status=ExperimentStatus.ENDING).first()
        if row is None or Trial.objects.filter(experiment=row, status__in=sorted(LIVE)).exists():
            return False
        status = OUTCOMES[EndReason(row.reason)]
        Experiment.objects.filter(pk=row.pk).update(status=status, ended_at=Now(), hurdle=Hurdle.NONE)
        row.status = status
        tell_ended(row)
        record(
            actor,
            action="experiment.ended",
            organisation_id=row.organisation_id,
            target=target(row),
            after={"status": status.value, "reason": row.reason},
        )
    return True


def go_on(actor: Actor, experiment: Experiment, *, most_trials: int, most_failed: int) -> bool:
    """One that has ended runs again, with more trials; False where it does not rest."""
    with transaction.atomic():
        rows = Experiment.objects.filter(pk=experiment.pk, ended_at__isnull=False, deleted_at__isnull=True)
        if not rows.update(
            status=ExperimentStatus.RUNNING,
            reason=EndReason.NONE,
            reason_data={},
            ended_at=None,
            next_at=Now(),
            lease_until=None,
            most_trials=most_trials,
            most_failed=most_failed,
        ):
            return False
        before = {"most_trials": experiment.most_trials, "most_failed": experiment.most_failed}
        record(
            actor,
            action="experiment.gone_on",
            organisation_id=experiment.organisation_id,
            target=target(experiment),
            before=before,
            after={"most_trials": most_trials, "most_failed": most_failed},
        )
    return True


def started(trial: Trial, run: Run) -> bool:
    """Its run is submitted; False if it was ended meanwhile, or has one."""
    rows = Trial.objects.filter(pk=trial.pk, status=TrialStatus.WAITING, run__isnull=True)
    return bool(rows.update(status=TrialStatus.RUNNING, run=run))


def ask_to_end(trials: Sequence[Trial], status: TrialStatus) -> int:
    """What they will be once their runs have ended; the first word counts."""
    rows = Trial.objects.filter(pk__in=[each.pk for each in trials], status__in=sorted(LIVE), asked="")
    return rows.update(asked=status)


def end_trial(
    trial: Trial,
    status: TrialStatus,
    objectives: Sequence[float] | None = None,
    curve: Sequence[tuple[int, float]] = (),
) -> bool:
    """It has ended; False if that was known."""
    rows = Trial.objects.filter(pk=trial.pk, status__in=sorted(LIVE))
    measured = None if objectives is None else list(objectives)
    points = [list(point) for point in curve]
    return bool(rows.update(status=status, objectives=measured, curve=points, ended_at=Now()))
