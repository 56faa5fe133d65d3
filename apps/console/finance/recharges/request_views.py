"""Recharges that wait for a second person: one of them, and what is decided about it; asking for a reversal."""

from typing import Any
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse as url_of
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.choices import NOTES, RechargeKind, RequestState
from apps.billing.models import RechargeRequest
from apps.billing.payments import proofs, recharge_review
from apps.billing.payments.receipts import receipt_elsewhere
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.money import capital_yuan, yuan
from apps.common.pages import REFUSED, Question, ask, done, say_refusal
from apps.common.permissions import Permission as P
from apps.console.finance.recharges import selectors as reads
from apps.console.finance.recharges.forms import DenyForm, ProofsForm, ReverseForm
from apps.console.kit.requests import StaffRequest
from apps.console.kit.second_person import nobody_else

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
RECHARGE = on_platform(P.PLATFORM_RECHARGE)
PAGE = "console/recharges/request.html"


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, recharge_request_id: UUID) -> HttpResponse:
    return render(request, PAGE, _page(request, reads.request_of(request.actor, recharge_request_id)))


def _page(request: StaffRequest, found: RechargeRequest) -> dict[str, Any]:
    actor = request.actor
    waits = found.state == RequestState.PENDING and actor.may(P.PLATFORM_RECHARGE)
    mine = found.requested_by_id == actor.user_id
    return {
        "found": found,
        "in_words": capital_yuan(found.amount_fen),
        "received": reads.received_of(found),
        "is_note": found.kind in NOTES,
        "is_reversal": found.kind == RechargeKind.REVERSAL,
        "terms": reads.voucher_of(found),
        "wallet": reads.wallet(actor, found.organisation_id),
        "proofs": proofs.proofs(actor, organisation_id=found.organisation_id, reference=found.reference),
        "elsewhere": receipt_elsewhere(found.organisation_id, found.reference) if _is_recharge(found) else None,
        "nobody_else": waits and mine and nobody_else(actor, P.PLATFORM_RECHARGE),
        "may_see_staff": actor.may(P.PLATFORM_SECURITY_VIEW),
        "may_decide": waits and not mine,
        "may_withdraw": waits and mine,
        "attach": ProofsForm() if actor.may(P.PLATFORM_RECHARGE) else None,
        "attach_url": url_of("console:recharge_request_attach", args=[found.pk]),
    }


def _is_recharge(found: RechargeRequest) -> bool:
    return found.kind == RechargeKind.RECHARGE and found.state == RequestState.PENDING


@requires(RECHARGE)
@require_POST
def attach(request: StaffRequest, recharge_request_id: UUID) -> HttpResponse:
    found = reads.request_of(request.actor, recharge_request_id)
    form = ProofsForm(request.POST, request.FILES)
    if attach_proofs(request, form, found.organisation_id, found.reference):
        return redirect("console:recharge_request", found.pk)
    return render(request, PAGE, {**_page(request, found), "attach": form}, status=REFUSED)


def attach_proofs(request: StaffRequest, form: forms.Form, organisation_id: UUID, reference: str) -> bool:
    """Whether all chosen documents are attached to the payment; otherwise the form says why not."""
    if not form.is_valid():
        return False
    try:
        for name, content in form.cleaned_data["proofs"]:
            proofs.add_proof(
                request.actor, organisation_id=organisation_id, reference=reference, name=name, content=content
            )
    except DomainError as error:
        show_error(form, error)
        return False
    return True


@requires(RECHARGE)
@require_http_methods(["GET", "POST"])
def act(request: StaffRequest, recharge_request_id: UUID, name: str) -> HttpResponse:
    """`approve` or `withdraw`: a dialog first, then the deed."""
    found = reads.request_of(request.actor, recharge_request_id)
    if name not in ("approve", "withdraw"):
        raise Http404
    if request.method != "POST":
        action = url_of("console:recharge_request_act", args=[found.pk, name])
        words = _approve_words(found) if name == "approve" else _withdraw_words(found)
        return render(request, "components/confirm_body.html", {**words, "action": action})
    try:
        if name == "approve":
            recharge_review.approve(request.actor, request_id=found.pk)
        else:
            recharge_review.withdraw(request.actor, request_id=found.pk)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:recharge_request", found.pk)
    return done(request, _said(found, name), "console:recharge_request", found.pk)


def _said(found: RechargeRequest, name: str) -> str:
    if name == "withdraw":
        return _("The request was taken back.")
    return _("The voucher is granted.") if found.kind == RechargeKind.VOUCHER else _("Approved: the money has moved.")


def _approve_words(found: RechargeRequest) -> dict[str, Any]:
    names = {"amount": yuan(found.amount_fen), "name": found.organisation.name, "reference": found.reference}
    if found.kind == RechargeKind.REVERSAL:
        title = _("Take %(amount)s back from %(name)s?") % names
        text = _("Only what is neither spent nor set aside can be taken back. Reference %(reference)s.") % names
        return {"title": title, "text": text, "undo": _("No"), "button": _("Take it back")}
    if found.kind in NOTES:
        title = _("A debit note of %(amount)s for %(name)s?") % names
        if found.kind == RechargeKind.CREDIT_NOTE:
            title = _("A credit note of %(amount)s for %(name)s?") % names
        text = _("The money moves at once, and the note appears on this month's bill. Number %(reference)s.") % names
        return {"title": title, "text": text, "button": _("Approve and adjust"), "plain": True}
    if found.kind == RechargeKind.VOUCHER:
        title = _("Grant %(name)s a voucher of %(amount)s?") % names
        text = _("It pays for usage before the wallet does. What is left of it can be taken back.")
        return {"title": title, "text": text, "button": _("Approve and grant"), "plain": True}
    if found.kind == RechargeKind.REFUND:
        title = _("Give %(amount)s back to %(name)s by Alipay?") % names
        text = _("It leaves the wallet at once, as far as it is neither spent nor set aside, and goes to who paid.")
        return {"title": title, "text": text, "undo": _("No"), "button": _("Approve and give back")}
    title = _("Credit %(amount)s to %(name)s?") % names
    text = _("Approve only what you have seen on the bank slip yourself. Reference %(reference)s.") % names
    return {"title": title, "text": text, "button": _("Approve and credit"), "plain": True}


def _withdraw_words(found: RechargeRequest) -> dict[str, Any]:
    title = _("Take your request %(reference)s back?") % {"reference": found.name}
    return {"title": title, "text": _("Nothing is credited; it can be asked for again."), "button": _("Take it back")}


@requires(RECHARGE)
@require_http_methods(["GET", "POST"])
def deny(request: StaffRequest, recharge_request_id: UUID) -> HttpResponse:
    found = reads.request_of(request.actor, recharge_request_id)
    form = DenyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            recharge_review.deny(request.actor, request_id=found.pk, answer=form.cleaned_data["answer"])
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The request was denied."), "console:recharge_request", found.pk)
    title = _("Deny the request %(reference)s?") % {"reference": found.name}
    action = url_of("console:recharge_request_deny", args=[found.pk])
    return _ask(request, form, title, _("Whoever asked is told your reason."), _("Deny"), action)


@requires(RECHARGE)
@require_http_methods(["GET", "POST"])
def reverse(request: StaffRequest, transfer_id: int) -> HttpResponse:
    """Ask for a wrongly recorded recharge to be taken back."""
    transfer = reads.receipt(request.actor, transfer_id).transfer
    form = ReverseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            asked = recharge_review.ask_reversal(
                request.actor, transfer_id=transfer.pk, reason=form.cleaned_data["reason"]
            )
        except DomainError as error:
            show_error(form, error)
        else:
            return done(
                request, _("Asked for: a second person has to approve it."), "console:recharge_request", asked.pk
            )
    title = _("Reverse the recharge %(reference)s?") % {"reference": transfer.ref}
    text = _("%(amount)s go back, whole, once a second person has approved.") % {"amount": yuan(transfer.amount_fen)}
    action = url_of("console:recharge_reverse", args=[transfer.pk])
    return _ask(request, form, title, text, _("Request the reversal"), action)


def _ask(request: StaffRequest, form: forms.Form, title: str, text: str, button: str, action: str) -> HttpResponse:
    return ask(request, form, Question(title, text, button, action, _("Recharge"), url_of("console:recharges")))
