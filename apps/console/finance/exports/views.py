"""The staff's files: asked for over all organisations or one, made in the background, fetched."""

from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.exports import pages
from apps.billing.exports.forms import ExportForm
from apps.common.access import on_platform, requires
from apps.common.permissions import Permission as P
from apps.common.requests import ActorRequest
from apps.console.kit.fields import OrganisationField

# Files of lists are made for all of the staff; which rows one may have, each kind of file asks itself.
VIEW = on_platform(P.PLATFORM_OVERVIEW)
SECTION = "console"


class StaffExportForm(ExportForm):
    organisation = OrganisationField(label=_("Organisation"), max_length=80, required=False)

    field_order = ("kind", "organisation", "since", "until", "q", "format")


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def exports(request: ActorRequest) -> HttpResponse:
    return pages.page(request, StaffExportForm, section=SECTION)


@requires(VIEW)
@require_POST
def export_list(request: ActorRequest) -> HttpResponse:
    return pages.request_list(request, section=SECTION)


@requires(VIEW)
@require_POST
def cancel(request: ActorRequest, export_id: UUID) -> HttpResponse:
    return pages.cancel(request, export_id, section=SECTION)


@requires(VIEW)
@require_GET
def download(request: ActorRequest, export_id: UUID) -> HttpResponseBase:
    return pages.download(request, export_id)
