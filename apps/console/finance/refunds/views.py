"""Refund a payment by Alipay, and show the refund's state."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing.choices import RefundStatus
from apps.billing.models import RechargeRequest, TopUpOrder, Transfer
from apps.billing.payments import recharge_review
from apps.billing.payments.alipay import refunds
from apps.common.access import requires
from apps.common.errors import DomainError, NotFound
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import done, refused, say_refusal
from apps.console.finance.recharges import selectors as reads
from apps.console.finance.recharges.views import RECHARGE
from apps.console.finance.refunds.forms import RefundForm
from apps.console.kit.requests import StaffRequest
from apps.tenants.confirming import confirm_identity

PAGE = "console/recharges/refund.html"


@requires(RECHARGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest, transfer_id: int) -> HttpResponse:
    """Requires re-authentication, because the money leaves for good."""
    paid = reads.receipt(request.actor, transfer_id).transfer
    order = refunds.refundable(paid)
    if order is None:
        raise NotFound
    confirm_identity(request)
    form = RefundForm(request.POST or None)
    if request.method != "POST":
        return render(request, PAGE, _page(request, paid, order, RefundForm()))
    if form.is_valid():
        try:
            made = recharge_review.refund(
                request.actor,
                transfer_id=paid.pk,
                amount_fen=form.cleaned_data["amount"],
                reason=form.cleaned_data["reason"],
                key=str(form.cleaned_data["key"]),
            )
        except DomainError as error:
            show_error(form, error)
        else:
            return _gone_on(request, made, paid)
    return refused(request, PAGE, _page(request, paid, order, form))


def _gone_on(request: StaffRequest, made: Any, paid: Transfer) -> HttpResponse:
    if isinstance(made, RechargeRequest):
        return done(request, _("Asked for: a second person has to approve it."), "console:recharge_request", made.pk)
    words = _("%(amount)s have left the wallet; Alipay is asked to give them back.") % {"amount": yuan(made.amount_fen)}
    return done(request, words, "console:recharge", paid.pk)


def _page(request: StaffRequest, paid: Transfer, order: TopUpOrder, form: RefundForm) -> dict[str, Any]:
    wallet = reads.wallet(request.actor, order.organisation_id)
    left = order.amount_fen - order.refunded_fen
    return {
        "form": form,
        "transfer": paid,
        "order": order,
        "wallet": wallet,
        "left_fen": left,
        "most_fen": max(0, min(left, wallet.available_fen)),
        "alone_fen": recharge_review.alone_fen(),
    }


@requires(RECHARGE)
@require_POST
def ask(request: StaffRequest, out_request_no: str) -> HttpResponse:
    """Query Alipay now, or request the refund again: under the same number it is the same refund."""
    refund = refunds.refunds(request.actor).filter(out_request_no=out_request_no).first()
    if refund is None:
        raise NotFound
    try:
        state = refunds.carry_out(request.actor, refund).status
        words = {
            RefundStatus.DONE: _("Alipay has given it back."),
            RefundStatus.FAILED: _("Alipay refuses; the money is back in the wallet."),
        }
        return done(
            request,
            words.get(RefundStatus(state), _("Alipay does not answer yet. It is asked again by itself.")),
            "console:recharge",
            refund.order.transfer_id,
        )
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:recharge", refund.order.transfer_id)
