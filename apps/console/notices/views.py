"""What the platform's staff are told, as staff."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import on_platform, requires
from apps.common.permissions import Permission as P
from apps.common.requests import ActorRequest
from apps.notifications import listing
from apps.notifications.listing import Place

STAFF = on_platform(P.PLATFORM_OVERVIEW)
PLACE = Place("console:notices", "console:notice_read", "console:notices_read")


@requires(STAFF)
@require_GET
def notice_list(request: ActorRequest) -> HttpResponse:
    return listing.page(request, PLACE)


@requires(STAFF)
@require_POST
def read(request: ActorRequest, notice_id: int) -> HttpResponse:
    return listing.read(request, PLACE, notice_id)


@requires(STAFF)
@require_POST
def read_all(request: ActorRequest) -> HttpResponse:
    return listing.read_all(request, PLACE)


@requires(STAFF)
@require_GET
def bell(request: ActorRequest) -> HttpResponse:
    return listing.bell(request)
