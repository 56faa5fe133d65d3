"""What the trials say, asked for once the page stands: it takes a second."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.automl import charts, selectors
from apps.automl import outlook as looking
from apps.automl.measuring import objectives_of
from apps.automl.search.outlook import MOST_MORE
from apps.common.access import in_organisation, requires
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest

VIEW = in_organisation(Permission.TRAINING_VIEW)
OFFERED = (10, 20, 50)


@requires(VIEW)
@require_GET
def importance(request: ActorRequest, experiment_id: UUID) -> HttpResponse:
    experiment = selectors.get(request.actor, experiment_id)
    shares = looking.importance(experiment)
    rows = sorted(shares.items(), key=lambda pair: -pair[1]) if shares else []
    bars = [{"name": name, "percent": round(100 * share), "share": f"{share:.2f}"} for name, share in rows]
    context = {"experiment": experiment, "bars": bars, "least": looking.LEAST_TRIALS}
    return render(request, "tuning/parts/importance.html", context)


@requires(VIEW)
@require_GET
def outlook(request: ActorRequest, experiment_id: UUID) -> HttpResponse:
    """`?more=`: how many more trials."""
    experiment = selectors.get(request.actor, experiment_id)
    more = _more(request.GET.get("more", ""))
    context: dict[str, Any] = {
        "experiment": experiment,
        "more": more,
        "offered": OFFERED,
        "objective": objectives_of(experiment)[0],
        "least": looking.LEAST_TRIALS,
        "found": looking.outlook(experiment, more) if len(experiment.objectives) == 1 else None,
    }
    trials = list(selectors.trials(experiment))
    costs = looking.costs(trials, selectors.spent(trials))
    if costs is not None:
        rounds = -(-more // experiment.parallel)
        context |= {"fen": costs.fen * more, "until": db_now() + timedelta(seconds=costs.seconds * rounds)}
    return render(request, "tuning/parts/outlook.html", context)


@requires(VIEW)
@require_GET
def contour(request: ActorRequest, experiment_id: UUID) -> HttpResponse:
    """`?x=`, `?y=`: the two parameters; those that mattered most where they are not said."""
    experiment = selectors.get(request.actor, experiment_id)
    names = looking.names(experiment)
    across, up = _pair(names, request.GET.get("x", ""), request.GET.get("y", ""), looking.most_important(experiment, 2))
    found = looking.landscape(experiment, across, up) if across != up else None
    trials = list(selectors.trials(experiment)) if found is not None else []
    context = {
        "experiment": experiment,
        "names": names,
        "across": across,
        "up": up,
        "objective": objectives_of(experiment)[0],
        "least": looking.LEAST_TRIALS,
        "chart": charts.contour_chart(experiment, trials, found, across, up) if found is not None else None,
    }
    return render(request, "tuning/parts/contour.html", context)


def _pair(names: list[str], across: str, up: str, usual: list[str]) -> tuple[str, str]:
    """Two different parameters, if there are two: what was asked for gives way where it is the same twice."""
    first = across if across in names else usual[0]
    second = up if up in names and up != first else next((each for each in [*usual, *names] if each != first), first)
    return first, second


def _more(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else OFFERED[1]
    return min(max(number, 1), MOST_MORE)
