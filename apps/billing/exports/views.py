"""Files of one's own: asked for, made in the background, fetched."""

from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.exports import pages
from apps.billing.exports.forms import ExportForm
from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest

OWN = in_organisation(Permission.BILLING_VIEW_OWN)
SECTION = "billing"


@requires(OWN)
@require_http_methods(["GET", "POST"])
def exports(request: ActorRequest) -> HttpResponse:
    return pages.page(request, ExportForm, section=SECTION)


@requires(OWN)
@require_POST
def export_list(request: ActorRequest) -> HttpResponse:
    return pages.request_list(request, section=SECTION)


@requires(OWN)
@require_POST
def cancel(request: ActorRequest, export_id: UUID) -> HttpResponse:
    return pages.cancel(request, export_id, section=SECTION)


@requires(OWN)
@require_GET
def download(request: ActorRequest, export_id: UUID) -> HttpResponseBase:
    return pages.download(request, export_id)
