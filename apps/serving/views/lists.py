"""The list of services, and the way to one from a workload."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.serving import selectors
from apps.serving.door.addresses import origin
from apps.serving.tables import ServiceFilter, ServiceTable

VIEW = in_organisation(Permission.SERVICES_VIEW)


@requires(VIEW)
@require_GET
def service_list(request: ActorRequest) -> HttpResponse:
    filtered = ServiceFilter(request.GET, queryset=selectors.services(request.actor), request=request)
    table = ServiceTable(filtered.qs, request=request)
    paged(request, table)
    shown: list[Any] = [row.record for row in table.page.object_list]
    states = selectors.states(shown)
    for row in shown:
        row.state, row.address = states[row.pk], origin(row.host)
    nothing_yet = not filtered.form.has_changed() and not table.rows
    return render(request, "serving/list.html", {"table": table, "filter": filtered, "nothing_yet": nothing_yet})


@requires(VIEW)
@require_GET
def of_workload(request: ActorRequest, workload_id: UUID) -> HttpResponse:
    """The page of the service of which a workload is a replica, for links that know the workload alone."""
    return redirect("serving:detail", selectors.of_workload(request.actor, workload_id).pk)
