"""The page of exports, which the portal and the console share. `section` is the namespace whose routes it uses."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from apps.billing.export_choices import ExportFormat, ExportKind
from apps.billing.exports import selectors as reads
from apps.billing.exports import services
from apps.billing.exports.forms import ExportForm
from apps.billing.exports.sending import export_response
from apps.billing.exports.states import KEPT
from apps.billing.exports.tables import ExportTable
from apps.billing.exports.wanted import ExportSpec
from apps.common.errors import Conflict, DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED, paged, say_refusal
from apps.common.requests import ActorRequest

PER_PAGE = 20
LONGEST_QUERY = 2000


def page(request: ActorRequest, form_class: type[ExportForm], *, section: str) -> HttpResponse:
    """The list with a form above it; a wish that a page's export button sends on is filled in."""
    if request.method != "POST":
        initial = {name: request.GET[name] for name in form_class.base_fields if name in request.GET}
        return _shown(request, form_class(initial=initial, actor=request.actor), section)
    form = form_class(request.POST, actor=request.actor)
    if form.is_valid():
        try:
            services.request_export(request.actor, wanted=form.wanted())
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("The file is being made. You are told when it is ready."))
            return redirect(f"{section}:exports")
    return _shown(request, form, section)


def request_list(request: ActorRequest, *, section: str) -> HttpResponse:
    """Request a file of a list as its page shows it: `list`, `query` as in the page's address, and `format`."""
    wanted = ExportSpec(
        ExportKind.LIST,
        ExportFormat.CSV if request.POST.get("format") == ExportFormat.CSV else ExportFormat.XLSX,
        list_name=request.POST.get("list", "")[:40],
        query=request.POST.get("query", "")[:LONGEST_QUERY],
    )
    try:
        services.request_export(request.actor, wanted=wanted)
    except Conflict as error:
        say_refusal(request, error)
    else:
        messages.success(request, _("The file is being made. You are told when it is ready."))
    return redirect(f"{section}:exports")


def _shown(request: ActorRequest, form: ExportForm, section: str) -> HttpResponse:
    table = ExportTable(reads.exports(request.actor), request=request, section=section)
    paged(request, table, per_page=PER_PAGE)
    context: dict[str, Any] = {
        "form": form,
        "table": table,
        "open": any(row.record.is_open for row in table.page.object_list),
        "too_many": "big" in request.GET,
        "days": KEPT.days,
        "section": section,
    }
    return render(request, "billing/exports/list.html", context, status=REFUSED if form.errors else 200)


def cancel(request: ActorRequest, export_id: UUID, *, section: str) -> HttpResponse:
    try:
        services.cancel(request.actor, export_id=export_id)
    except DomainError as error:
        say_refusal(request, error)
    else:
        messages.success(request, _("The file is not made."))
    return redirect(f"{section}:exports")


def download(request: ActorRequest, export_id: UUID) -> HttpResponseBase:
    return export_response(request.actor, reads.downloadable_export(request.actor, export_id))
