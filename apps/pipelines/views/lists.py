"""The list of pipelines."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.pipelines import selectors
from apps.pipelines.tables import PipelineFilter, PipelineTable
from apps.training import selectors as training


@requires(in_organisation(Permission.TRAINING_VIEW))
@require_GET
def pipeline_list(request: ActorRequest) -> HttpResponse:
    filtered = PipelineFilter(request.GET, queryset=selectors.pipelines(request.actor), request=request)
    table = PipelineTable(filtered.qs, request=request)
    paged(request, table)
    context = {
        "table": table,
        "filter": filtered,
        "nothing_yet": not filtered.form.has_changed() and not table.paginator.count,
        "last_event_id": training.last_event_id(request.actor),
    }
    return render(request, "pipelines/list.html", context)
