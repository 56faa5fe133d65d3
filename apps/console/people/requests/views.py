"""Requests for packages, of every organisation."""

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import on_platform, requires
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.people.requests import reviewing

REVIEW = on_platform(P.PLATFORM_PACKAGES_REVIEW)


@requires(REVIEW)
@require_GET
def request_list(request: StaffRequest) -> HttpResponse:
    return reviewing.page(request, request.actor, section="console")


@requires(REVIEW)
@require_POST
def act(request: StaffRequest) -> HttpResponse:
    return reviewing.act(request, request.actor, section="console")


@requires(REVIEW)
@require_http_methods(["GET", "POST"])
def deny(request: StaffRequest, request_id: UUID) -> HttpResponse:
    return reviewing.deny(request, request.actor, request_id, section="console")
