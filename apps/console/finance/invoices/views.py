"""Invoices that organisations have asked for: the queue, one of them, and what is decided about it."""

from typing import Any
from uuid import UUID

from django import forms
from django.db.models import Count, Sum
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.billing.days import billing_day
from apps.billing.invoice_choices import InvoiceState
from apps.billing.invoices import issuing as invoicing
from apps.billing.invoices import selectors as reads
from apps.billing.invoices.downloads import download
from apps.billing.invoices.tax import USUAL_CONTENT
from apps.billing.invoices.views import strip
from apps.billing.models import Invoice
from apps.common.access import on_platform, requires
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import REFUSED, Question, ask, done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.console.finance.invoices.forms import DenyInvoiceForm, IssueForm, VoidForm
from apps.console.finance.invoices.listing import InvoiceFilter, InvoiceTable
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
MANAGE = on_platform(P.PLATFORM_INVOICES_MANAGE)


@requires(VIEW)
@require_GET
def invoice_list(request: StaffRequest) -> HttpResponse:
    filtered = InvoiceFilter(request.GET, queryset=reads.invoices(request.actor), request=request)
    open_states = [InvoiceState.REQUESTED, InvoiceState.APPROVED]
    waiting = reads.invoices(request.actor).filter(state__in=open_states).order_by()
    context = {
        "table": paged(request, InvoiceTable(filtered.qs)),
        "filter": filtered,
        "counts": dict(waiting.values_list("state").annotate(count=Count("pk"))),
        "excesses": reads.excesses(request.actor),
        "total": filtered.qs.order_by().aggregate(fen=Sum("amount_fen"))["fen"] or 0,
    }
    return render(request, "console/invoices/list.html", context)


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, invoice_id: UUID) -> HttpResponse:
    return render(request, "console/invoices/detail.html", _page(request, reads.invoice(request.actor, invoice_id)))


def _page(request: StaffRequest, found: Invoice) -> dict[str, Any]:
    room = reads.invoicing_headroom(request.actor, organisation_id=found.organisation_id)
    may = request.actor.may(P.PLATFORM_INVOICES_MANAGE)
    state = found.state
    return {
        "invoice": found,
        "files": reads.files(request.actor, found),
        "file_url": "console:invoice_file",
        "room": room,
        "strip": strip(room),
        "may_approve": may and state == InvoiceState.REQUESTED,
        "may_deny": may and state in (InvoiceState.REQUESTED, InvoiceState.APPROVED),
        "may_issue": may and state == InvoiceState.APPROVED,
        "may_void": may and state == InvoiceState.ISSUED,
    }


@requires(VIEW)
@require_GET
def file(request: StaffRequest, file_id: int) -> HttpResponse:
    return download(reads.file(request.actor, file_id))


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def approve(request: StaffRequest, invoice_id: UUID) -> HttpResponse:
    """A dialog with what is approved, then the deed."""
    found = reads.invoice(request.actor, invoice_id)
    if request.method != "POST":
        words = {
            "title": _("Approve the invoice over %(amount)s?") % {"amount": yuan(found.amount_fen)},
            "text": _(
                "%(title)s, asked for by %(name)s. Issue it next, in the tax bureau's system, and record it here."
            )
            % {"title": found.title, "name": found.organisation.name},
            "button": _("Approve"),
            "plain": True,
            "action": reverse("console:invoice_approve", args=[found.pk]),
        }
        return render(request, "components/confirm_body.html", words)
    try:
        invoicing.approve(request.actor, invoice_id=found.pk)
    except DomainError as error:
        say_refusal(request, error)
        return _back(request, found)
    return done(request, _("Approved. It is to be issued now."), "console:invoice", found.pk)


def _back(request: StaffRequest, found: Invoice) -> HttpResponse:
    fresh = reads.invoice(request.actor, found.pk)
    return render(request, "console/invoices/detail.html", _page(request, fresh), status=REFUSED)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def deny(request: StaffRequest, invoice_id: UUID) -> HttpResponse:
    found = reads.invoice(request.actor, invoice_id)
    form = DenyInvoiceForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            invoicing.deny(request.actor, invoice_id=found.pk, answer=form.cleaned_data["answer"])
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The request was denied."), "console:invoice", found.pk)
    title = _("Deny the invoice over %(amount)s?") % {"amount": yuan(found.amount_fen)}
    action = reverse("console:invoice_deny", args=[found.pk])
    return _ask(request, form, title, _("Whoever asked is told your reason; the amount is free again."), action)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def void(request: StaffRequest, invoice_id: UUID) -> HttpResponse:
    found = reads.invoice(request.actor, invoice_id)
    form = VoidForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            invoicing.void(request.actor, invoice_id=found.pk, **form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The invoice counts as voided."), "console:invoice", found.pk)
    title = _("Void the invoice %(number)s?") % {"number": found.number}
    text = _("Only after the red invoice has been issued. It cannot be undone; the amount is free again.")
    return _ask(request, form, title, text, reverse("console:invoice_void", args=[found.pk]))


def _ask(request: StaffRequest, form: forms.Form, title: str, text: str, action: str) -> HttpResponse:
    return ask(request, form, Question(title, text, _("Confirm"), action, _("Invoices"), reverse("console:invoices")))


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def issue(request: StaffRequest, invoice_id: UUID) -> HttpResponse:
    found = reads.invoice(request.actor, invoice_id)
    if request.method != "POST":
        content = found.content or USUAL_CONTENT
        form = IssueForm(initial={"issued_on": billing_day(db_now()), "content": content})
        return render(request, "console/invoices/issue.html", {"form": form, "invoice": found})
    form = IssueForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            invoicing.issue(request.actor, invoice_id=found.pk, given=form.issue())
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The invoice was issued, and whoever asked is told."), "console:invoice", found.pk)
    return refused(request, "console/invoices/issue.html", {"form": form, "invoice": found})
