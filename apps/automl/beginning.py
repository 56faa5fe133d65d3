"""Experiments that begin with what another one found: which they may be, and the trials that they know then."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.automl import measuring, selectors
from apps.automl.choices import ResumePolicy, TrialStatus
from apps.automl.models import Experiment, Trial
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.inquiry import PastTrial, TrialState
from apps.automl.search.space import Space
from apps.automl.wanted import NewExperiment
from apps.common.actor import Actor
from apps.common.errors import DomainError, Invalid

LEARNING = frozenset({Algorithm.TPE, Algorithm.GP})
"""Algorithms that learn from results, whoever chose the points."""


def offered(actor: Actor) -> QuerySet[Experiment]:
    """Those that were started so that others may begin with them."""
    rows: QuerySet[Experiment] = selectors.experiments(actor).filter(
        resume_policy=ResumePolicy.FROM_VOLUME, trials__status=TrialStatus.SUCCEEDED
    )
    return rows.distinct()


def check(actor: Actor, wanted: NewExperiment) -> None:
    """Raise `Invalid` where it cannot begin so."""
    if wanted.begins_with is None:
        return
    try:
        earlier = selectors.get(actor, wanted.begins_with)
    except DomainError as error:
        raise Invalid.field("begins_with", _("There is no such experiment that you may see.")) from error
    if wanted.algorithm not in LEARNING:
        raise Invalid.field("begins_with", _("Only TPE and the Bayesian search learn from trials of others."))
    if earlier.resume_policy != ResumePolicy.FROM_VOLUME:
        raise Invalid.field("begins_with", _("It was not started with FromVolume, so no other begins with it."))
    aims = [(each.metric, each.direction) for each in measuring.objectives_of(earlier)]
    if aims != [(each.metric, each.direction) for each in wanted.objectives]:
        raise Invalid.field("begins_with", _("It searches by another metric, or in the other direction."))
    if not any(wanted.space.contains(each.values) for each in _finished(earlier)):
        raise Invalid.field("begins_with", _("None of its finished trials lies within these parameters."))


def known(experiment: Experiment) -> tuple[PastTrial, ...]:
    """What the other one had found before this one began, as far as it lies within this one's space.

    Numbered from -1 downwards, the latest first, so that they stand before all of its own.
    """
    if experiment.begins_with is None:
        return ()
    space = Space.from_json(experiment.parameters)
    before = _finished(experiment.begins_with).filter(ended_at__lte=experiment.created_at)
    rows = [each for each in before if space.contains(each.values)]
    return tuple(
        PastTrial(
            number=place - len(rows),
            values=each.values,
            state=TrialState.COMPLETE,
            objectives=tuple(each.objectives or ()),
        )
        for place, each in enumerate(rows)
    )


def _finished(experiment: Experiment) -> QuerySet[Trial]:
    rows: QuerySet[Trial] = Trial.objects.filter(experiment=experiment, status=TrialStatus.SUCCEEDED)
    return rows.order_by("number")
