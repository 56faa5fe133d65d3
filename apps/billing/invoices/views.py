"""Invoices of the organisation: the list with what may still be invoiced, a request, one of them with its files."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.invoice_choices import InvoiceState
from apps.billing.invoices import requesting as services
from apps.billing.invoices import selectors as reads
from apps.billing.invoices.downloads import download
from apps.billing.invoices.forms import InvoiceForm
from apps.billing.invoices.selectors import Headroom
from apps.billing.invoices.tables import InvoiceTable, TitleTable
from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import REFUSED, paged, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest

VIEW = in_organisation(Permission.BILLING_VIEW)
ASK = in_organisation(Permission.BILLING_TOP_UP)
PER_PAGE = 20


@requires(VIEW)
@require_GET
def invoices(request: ActorRequest) -> HttpResponse:
    table = InvoiceTable(reads.invoices(request.actor), request=request)
    paged(request, table, per_page=PER_PAGE)
    found = reads.invoicing_headroom(request.actor)
    context = {
        "table": table,
        "titles": TitleTable(reads.titles(request.actor), orderable=False),
        "room": found,
        "strip": strip(found),
        "may_ask": request.actor.may(Permission.BILLING_TOP_UP),
    }
    return render(request, "billing/invoices/list.html", context)


def strip(found: Headroom) -> list[dict[str, Any]]:
    """What was paid, what is spoken for, what is left."""
    return [
        {"label": _("Paid"), "value": yuan(found.paid_fen), "sub": _("Top-ups less what was given back")},
        {"label": pgettext("invoice", "Issued"), "value": yuan(found.issued_fen)},
        {"label": _("Asked for, not issued yet"), "value": yuan(found.claimed_fen - found.issued_fen)},
        {
            "label": _("May be invoiced"),
            "value": yuan(found.available_fen),
            "tone": "warn" if found.excess_fen else "",
            "sub": _("Vouchers are not invoiced"),
        },
    ]


@requires(ASK)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    titles = reads.titles(request.actor)
    form = InvoiceForm(request.POST or None, titles=titles, initial={"title": request.GET.get("title", "")})
    if request.method == "POST" and form.is_valid():
        try:
            made = services.request_invoice(request.actor, wanted=form.wanted())
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("The invoice was asked for. You are told what becomes of it."))
            return redirect("billing:invoice", made.pk)
    context = {"form": form, "room": reads.invoicing_headroom(request.actor), "has_titles": titles.exists()}
    return render(request, "billing/invoices/new.html", context, status=REFUSED if request.method == "POST" else 200)


@requires(VIEW)
@require_GET
def detail(request: ActorRequest, invoice_id: UUID) -> HttpResponse:
    found = reads.invoice(request.actor, invoice_id)
    waits = found.state == InvoiceState.REQUESTED
    context = {
        "invoice": found,
        "files": reads.files(request.actor, found),
        "file_url": "billing:invoice_file",
        "may_withdraw": waits and request.actor.may(Permission.BILLING_TOP_UP),
    }
    return render(request, "billing/invoices/detail.html", context)


@requires(ASK)
@require_POST
def withdraw(request: ActorRequest, invoice_id: UUID) -> HttpResponse:
    try:
        services.withdraw_invoice(request.actor, invoice_id=invoice_id)
    except DomainError as error:
        say_refusal(request, error)
    else:
        messages.success(request, _("The request was taken back."))
    return redirect("billing:invoice", invoice_id)


@requires(VIEW)
@require_GET
def file(request: ActorRequest, file_id: int) -> HttpResponse:
    return download(reads.file(request.actor, file_id))
