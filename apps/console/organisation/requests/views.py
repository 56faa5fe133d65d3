"""Requests for packages, of one's own organisation."""

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission as P
from apps.common.requests import ActorRequest
from apps.console.people.requests import reviewing

REVIEW = in_organisation(P.PACKAGES_REVIEW)


@requires(REVIEW)
@require_GET
def request_list(request: ActorRequest) -> HttpResponse:
    return reviewing.page(request, request.actor, section="organisation")


@requires(REVIEW)
@require_POST
def act(request: ActorRequest) -> HttpResponse:
    return reviewing.act(request, request.actor, section="organisation")


@requires(REVIEW)
@require_http_methods(["GET", "POST"])
def deny(request: ActorRequest, request_id: UUID) -> HttpResponse:
    return reviewing.deny(request, request.actor, request_id, section="organisation")
