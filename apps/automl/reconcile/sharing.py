"""Experiments that wait for the same quota take turns: what becomes free is offered first to who has fewest trials.

Nothing is kept free for anybody: an experiment that still cannot start, perhaps because it is another quota that it
lacks, holds up nobody.
"""

from django.db.models import Count, F, Q, QuerySet

from apps.automl.choices import ExperimentStatus, Hurdle, TrialStatus
from apps.automl.models import Experiment
from apps.automl.reconcile import starting
from apps.automl.reconcile.claims import EXPERIMENTS
from apps.common.actor import Actor

MOST_OFFERED = 5


def offer_to_poorer(actor: Actor, experiment: Experiment) -> int:
    """Let experiments of the organisation that wait for quota, and run fewer trials, start theirs; how many did."""
    return sum(_offer(actor, each) for each in poorer(experiment)[:MOST_OFFERED])


def poorer(experiment: Experiment) -> QuerySet[Experiment]:
    """Those with the fewest trials first, of as many who has waited longest."""
    rows = Experiment.objects.filter(
        organisation_id=experiment.organisation_id,
        status=ExperimentStatus.RUNNING,
        hurdle=Hurdle.QUOTA,
        paused_at__isnull=True,
    ).exclude(pk=experiment.pk)
    running = Count("trials", filter=Q(trials__status=TrialStatus.RUNNING))
    own = experiment.trials.filter(status=TrialStatus.RUNNING).count()
    return rows.annotate(running=running).filter(running__lt=own + 1).order_by("running", F("next_at"), "pk")


def _offer(actor: Actor, waiting: Experiment) -> bool:
    """While somebody else is at it, theirs is enough."""
    Experiment.objects.filter(pk=waiting.pk, lease_until__isnull=True).update(next_at=waiting.created_at)
    claimed = EXPERIMENTS.claim(waiting.pk)
    if claimed is None:
        return False
    hurdle = starting.start_waiting(actor, claimed)
    EXPERIMENTS.release(claimed, again_s=0 if hurdle is Hurdle.NONE else starting.HINDERED_S, hurdle=hurdle)
    return hurdle is Hurdle.NONE
