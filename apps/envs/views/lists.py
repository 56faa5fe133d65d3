"""The list of environments."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from apps.common import bulk
from apps.common.access import in_organisation, requires
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.envs import selectors
from apps.envs.bulk_acts import ENVIRONMENTS
from apps.envs.tables import EnvironmentFilter, EnvironmentTable


@requires(in_organisation(Permission.ENVIRONMENTS_VIEW))
@require_GET
def environment_list(request: ActorRequest) -> HttpResponse:
    actor = request.actor
    filtered = EnvironmentFilter(request.GET, queryset=selectors.in_list(actor), request=request)
    table = EnvironmentTable(filtered.qs, request=request, bulk=bulk.offered(request, ENVIRONMENTS))
    paged(request, table)
    counts = selectors.totals(actor)
    context = {
        "table": table,
        "filter": filtered,
        "counts": counts,
        "nothing_yet": not counts["all"] and not counts["binned"],
        "may_use": actor.may(Permission.ENVIRONMENTS_USE),
        "last_event_id": selectors.last_event_id(actor),
    }
    return render(request, "envs/list.html", context)


@requires(in_organisation(Permission.ENVIRONMENTS_USE))
@require_POST
def bulk_act(request: ActorRequest) -> HttpResponse:
    return bulk.answer(request, ENVIRONMENTS)
