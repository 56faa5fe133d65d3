"""The way from the portal into a running workload."""

from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseRedirectBase
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.workloads.gateway import hosts, passes
from apps.workloads.ports.sharing import openable


class _SeeOther(HttpResponseRedirectBase):
    status_code = 303


@requires(in_organisation(Permission.ORGANISATION_VIEW))
@require_GET
def open_port(request: ActorRequest, workload_id: UUID, port: str = "") -> HttpResponse:
    """Send the browser to the port's own origin with a code that lets it in once; `?next=` is a path there."""
    actor = request.actor
    workload, _found = openable(actor, workload_id, port)
    address = passes.address_of(workload, port)
    code = passes.issue(
        actor,
        workload,
        port,
        portal_session=passes.session_of(request.session.session_key),
        portal=request.build_absolute_uri("/").rstrip("/"),
    )
    query = urlencode({"code": code, "next": request.GET.get("next", "/")})
    response = _SeeOther(f"{hosts.origin(address)}/.plstack/enter?{query}")
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
