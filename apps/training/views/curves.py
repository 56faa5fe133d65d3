"""Curves of metrics for charts, and all points of a run as a file."""

import math
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.errors import NotFound
from apps.common.files import attachment
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.tracking import raw_csv
from apps.training import selectors
from apps.training.metric_pages import chosen_runs, curves_of

VIEW = in_organisation(Permission.TRAINING_VIEW)


@requires(VIEW)
@require_GET
def curves(request: ActorRequest) -> JsonResponse:
    """`?run=…` one or more; `?name=…` of which metrics, else which there are; `?axis=step|time&start=&end=`."""
    asked = request.GET
    chosen = chosen_runs(request.actor, ids(asked.getlist("run")))
    span = (_number(asked.get("start")), _number(asked.get("end")))
    return JsonResponse(curves_of(request.actor, chosen, asked.getlist("name"), asked.get("axis", "step"), span))


@requires(VIEW)
@require_GET
def download(request: ActorRequest, run_id: UUID) -> HttpResponse:
    run = selectors.get(request.actor, run_id)
    content = "".join(raw_csv.lines(request.actor, run.workload_id))
    return attachment(content.encode(), f"{run.name}-v{run.version}-metrics.csv", "text/csv; charset=utf-8")


def ids(texts: list[str]) -> list[UUID]:
    """Raises `NotFound` for what is no id."""
    try:
        return [UUID(text) for text in texts]
    except ValueError as error:
        raise NotFound from error


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "nan")
    except ValueError:
        return None
    return number if math.isfinite(number) else None
