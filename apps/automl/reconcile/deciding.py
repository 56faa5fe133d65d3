"""Whether an experiment is at its end."""

from apps.automl import measuring, selectors, states
from apps.automl.choices import EndReason, TrialStatus
from apps.automl.models import Experiment, Trial
from apps.common.actor import Actor


def decide(actor: Actor, experiment: Experiment) -> bool:
    """Whether it was asked to end now."""
    reason = reason_to_end(experiment)
    return reason is not None and states.end(actor, experiment, reason)


def reason_to_end(experiment: Experiment) -> EndReason | None:
    """One that has failed too often has failed, although another trial reached the goal in the same turn."""
    numbers = selectors.counts(experiment)
    if numbers.failed > experiment.most_failed:
        return EndReason.FAILED_TRIALS
    if _reached(experiment):
        return EndReason.GOAL
    if numbers.created >= experiment.most_trials and not numbers.live:
        return EndReason.ALL_TRIALS
    return None


def _reached(experiment: Experiment) -> bool:
    """Whether one trial reached every goal that is set."""
    objectives = measuring.objectives_of(experiment)
    if all(each.goal is None for each in objectives):
        return False
    rows = Trial.objects.filter(experiment=experiment, status=TrialStatus.SUCCEEDED)
    return any(
        all(each.goal is None or each.reached(value) for each, value in zip(objectives, reached, strict=True))
        for reached in rows.values_list("objectives", flat=True)
        if reached
    )
