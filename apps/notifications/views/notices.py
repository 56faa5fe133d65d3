"""The page of notices in the portal."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import SELF, requires
from apps.common.requests import ActorRequest
from apps.notifications import listing
from apps.notifications.listing import Place

PLACE = Place("notifications:list", "notifications:read", "notifications:read_all", "notifications:preferences")


@requires(SELF)
@require_GET
def notice_list(request: ActorRequest) -> HttpResponse:
    return listing.page(request, PLACE)


@requires(SELF)
@require_POST
def read(request: ActorRequest, notice_id: int) -> HttpResponse:
    return listing.read(request, PLACE, notice_id)


@requires(SELF)
@require_POST
def read_all(request: ActorRequest) -> HttpResponse:
    return listing.read_all(request, PLACE)


@requires(SELF)
@require_GET
def bell(request: ActorRequest) -> HttpResponse:
    return listing.bell(request)
