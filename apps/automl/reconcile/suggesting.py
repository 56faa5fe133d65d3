"""New trials: as many as there is room for, with the values that the search proposes."""

import logging

from apps.automl import selectors, states
from apps.automl.choices import EndReason, ExperimentStatus, Hurdle
from apps.automl.models import Experiment, Trial
from apps.automl.reconcile.asking import inquiry
from apps.automl.reconcile.claims import EXPERIMENTS
from apps.automl.search import process
from apps.automl.search.failures import SearchFailed, TookTooLong
from apps.automl.search.inquiry import Answer
from apps.common.actor import Actor

log = logging.getLogger(__name__)
TIME_S = 25
"""Even on a machine that is four times as slow for others' sake, the answer comes before the lease is over."""


def fill(actor: Actor, experiment: Experiment) -> Hurdle:
    """Make the trials that may be made now; what keeps more of them from being made."""
    experiment.refresh_from_db(fields=["parallel", "most_trials", "budget_fen", "paused_at"])
    numbers = selectors.counts(experiment)
    room = min(experiment.parallel - numbers.live, experiment.most_trials - numbers.created)
    if room <= 0 or experiment.paused_at is not None:
        return Hurdle.NONE
    try:
        answer = process.ask(inquiry(experiment, count=room), time_s=TIME_S)
    except TookTooLong:
        return Hurdle.UNAVAILABLE  # a busy machine is asked again
    except SearchFailed as error:
        log.error("the search of experiment %s failed: %s %s", experiment.pk, error.code, error.detail)
        states.end(actor, experiment, EndReason.SEARCH_FAILED)
        return Hurdle.NONE
    if answer.suggestions:
        _make(experiment, answer)
    elif not numbers.live:
        # Nobody runs who could end and let it go on.
        states.end(actor, experiment, EndReason.EXHAUSTED)
    return Hurdle.PARENTS if len(answer.suggestions) < room and not answer.exhausted else Hurdle.NONE


def _make(experiment: Experiment, answer: Answer) -> None:
    """Rows of trials and the memory of the algorithm, in one transaction: the next turn knows both or neither."""
    with EXPERIMENTS.writing(experiment) as row:
        if row.status != ExperimentStatus.RUNNING:
            return
        made = list(Trial.objects.filter(experiment=row).order_by("number"))
        by_number = {each.number: each for each in made}
        first = max(by_number, default=0) + 1
        Trial.objects.bulk_create(
            Trial(
                organisation_id=row.organisation_id,
                experiment=row,
                number=first + place,
                values=dict(each.values),
                attrs=dict(each.attrs),
                parent=by_number[each.parent] if each.parent is not None else None,
            )
            for place, each in enumerate(answer.suggestions)
        )
        Experiment.objects.filter(pk=row.pk).update(study_attrs=dict(answer.study_attrs))
