"""One payment or refund beside Alipay's bill, and what staff do about it."""

from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.billing.bill_choices import BillItemKind, BillOutcome
from apps.billing.models import BillItem
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.billing.payments.reconciliation import acts
from apps.billing.payments.reconciliation import selectors as reads
from apps.common.access import requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import Question, ask, done, say_refusal
from apps.common.permissions import Permission as P
from apps.console.finance.reconciliation.forms import CloseForm, WhoseForm
from apps.console.finance.reconciliation.views import ACT, VIEW
from apps.console.kit.requests import StaffRequest
from apps.tenants import settings
from apps.tenants.confirming import confirm_identity

PAGE = "console/reconciliation/item.html"


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, bill_item_id: int) -> HttpResponse:
    return render(request, PAGE, _page(request, reads.bill_item(request.actor, bill_item_id)))


def _page(request: StaffRequest, item: BillItem) -> dict[str, Any]:
    may = request.actor.may(P.PLATFORM_RECHARGE)
    asks = may and settings.get(AlipaySettings).is_ready
    alone = item.is_open and item.outcome == BillOutcome.THEIRS_ONLY
    payment = item.kind == BillItemKind.PAYMENT
    return {
        "item": item,
        "is_payment": payment,
        "may_ask": asks,
        "may_credit": asks and alone and payment,
        "may_take_out": asks and alone and not payment,
        "may_close": may and item.is_open,
        "whose": WhoseForm() if asks and alone and payment and item.organisation_id is None else None,
    }


@requires(ACT)
@require_http_methods(["GET", "POST"])
def act(request: StaffRequest, bill_item_id: int, name: str) -> HttpResponse:
    """`ask` at once; `credit` and `take-out` after a dialog, and what takes money out of a wallet after one has said
    once more who one is.
    """
    item = reads.bill_item(request.actor, bill_item_id)
    if name not in DEEDS:
        raise Http404
    if request.method != "POST" and name != "ask":
        return render(request, "components/confirm_body.html", _asked(item, name))
    if request.method == "POST":
        if name == "take-out":
            confirm_identity(request)
        try:
            return done(request, DEEDS[name](request, item), "console:reconciliation_item", item.pk)
        except DomainError as error:
            say_refusal(request, error)
    return redirect("console:reconciliation_item", item.pk)


def _ask(request: StaffRequest, item: BillItem) -> str:
    said = acts.ask_gateway(request.actor, item.pk)
    if said.fen is None:
        return _("Alipay knows nothing of it.")
    words = _("Alipay says: %(status)s, %(amount)s.") if said.status else _("Alipay has given back %(amount)s.")
    return words % {"status": said.status, "amount": yuan(said.fen)}


def _credit(request: StaffRequest, item: BillItem) -> str:
    form = WhoseForm(request.POST)
    named = form.cleaned_data["organisation"].pk if form.is_valid() else None
    done_with = acts.credit(request.actor, item.pk, organisation_id=named)
    return _("%(amount)s are in the wallet.") % {"amount": yuan(done_with.theirs_fen or 0)}


def _take_out(request: StaffRequest, item: BillItem) -> str:
    acts.book_refund(request.actor, item.pk)
    return _("The refund is booked: the money has left the wallet.")


DEEDS: dict[str, Callable[[StaffRequest, BillItem], str]] = {"ask": _ask, "credit": _credit, "take-out": _take_out}


def _asked(item: BillItem, name: str) -> dict[str, Any]:
    names = {"amount": yuan(item.theirs_fen or 0), "name": item.organisation.name if item.organisation else "—"}
    action = reverse("console:reconciliation_act", args=[item.pk, name])
    if name == "credit":
        title = _("Credit %(amount)s to %(name)s?") % names
        text = _("Alipay is asked first; only a payment that it confirms is credited, and only once.")
        return {"title": title, "text": text, "button": _("Ask and credit"), "action": action, "plain": True}
    title = _("Take %(amount)s out of the wallet of %(name)s?") % names
    text = _("Alipay is asked first. The money has left its account already; this books it here as well.")
    return {"title": title, "text": text, "button": _("Take it out"), "action": action}


@requires(ACT)
@require_http_methods(["GET", "POST"])
def close(request: StaffRequest, bill_item_id: int) -> HttpResponse:
    """Leave it as it is, with a note."""
    item = reads.bill_item(request.actor, bill_item_id)
    form = CloseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            acts.close(request.actor, item.pk, note=form.cleaned_data["note"])
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("It is closed."), "console:reconciliation_item", item.pk)
    question = Question(
        title=_("Close it without moving money?"),
        text=_("Say how it was settled. It opens again by itself when Alipay or our books change."),
        button=_("Close"),
        action=reverse("console:reconciliation_close", args=[item.pk]),
        back=_("Alipay reconciliation"),
        back_url=reverse("console:reconciliation"),
    )
    return ask(request, form, question)
