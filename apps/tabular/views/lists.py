"""The list of searches on tables."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.tabular import selectors
from apps.tabular.tables import TableSearchFilter, TableSearchTable
from apps.training import selectors as training


@requires(in_organisation(Permission.TRAINING_VIEW))
@require_GET
def search_list(request: ActorRequest) -> HttpResponse:
    actor = request.actor
    filtered = TableSearchFilter(request.GET, queryset=selectors.searches(actor), request=request)
    table = TableSearchTable(filtered.qs, request=request)
    paged(request, table)
    context = {
        "table": table,
        "filter": filtered,
        "nothing_yet": not filtered.form.has_changed() and not table.paginator.count,
        "last_event_id": training.last_event_id(actor),
    }
    return render(request, "tabular/list.html", context)
