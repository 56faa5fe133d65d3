"""What the owner of an experiment is told: once, of its end, unless they ended it themselves."""

from typing import Any

from apps.automl.choices import EndReason, TrialStatus
from apps.automl.measuring import objectives_of
from apps.automl.models import Experiment, Trial
from apps.notifications.services import notify_user

KIND = "experiment.ended"


def tell_ended(experiment: Experiment) -> None:
    """In the transaction of the end."""
    if experiment.reason == EndReason.BY_PERSON:
        return
    data = {"name": experiment.name, "experiment_id": str(experiment.pk), "status": experiment.status}
    trials = Trial.objects.filter(experiment=experiment)
    notify_user(
        organisation_id=experiment.organisation_id,
        user_id=experiment.owner_id,
        kind=KIND,
        data={**data, "reason": experiment.reason, "trials": trials.count(), **_best(experiment)},
        dedup=f"{KIND}:{experiment.pk}:{trials.count()}",
    )


def _best(experiment: Experiment) -> dict[str, Any]:
    objective = objectives_of(experiment)[0]
    rows = Trial.objects.filter(experiment=experiment, status=TrialStatus.SUCCEEDED).values_list("objectives", "number")
    best: tuple[float, int] | None = None
    for objectives, number in rows.order_by("number"):
        if objectives and (best is None or objective.better(objectives[0], best[0])):
            best = objectives[0], number
    return {} if best is None else {"metric": objective.metric, "best": f"{best[0]:.5g}", "best_trial": best[1]}
