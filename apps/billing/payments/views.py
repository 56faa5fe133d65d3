"""Paying into the wallet by Alipay: the amount, the way to the payment page, what became of it."""

import logging
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.choices import TopUpStatus
from apps.billing.funds.wallets import wallet
from apps.billing.models import TopUpOrder
from apps.billing.payments.addresses import addresses
from apps.billing.payments.alipay import notices, orders
from apps.billing.payments.alipay.client import OutcomeUnknown, Refused
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.billing.payments.tables import TopUpTable
from apps.common.access import PUBLIC, in_organisation, requires
from apps.common.clock import db_now
from apps.common.errors import DomainError, NotFound
from apps.common.forms import show_error
from apps.common.money_fields import YuanField
from apps.common.pages import REFUSED, paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.tenants import settings

log = logging.getLogger(__name__)
VIEW = in_organisation(Permission.BILLING_VIEW)
TOP_UP = in_organisation(Permission.BILLING_TOP_UP)
PER_PAGE = 15
USUAL_YUAN = (100, 500, 1000, 5000)
PAGE, ORDER = "billing/topups/new.html", "billing/topups/order.html"
# Only exactly this answer stops the gateway from repeating a notice.
TAKEN, NOT_TAKEN = "success", "failure"


class TopUpForm(forms.Form):
    amount = YuanField(
        label=gettext_lazy("Amount"), widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    )


@requires(TOP_UP)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    form = TopUpForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = orders.start(request.actor, amount_fen=form.cleaned_data["amount"])
        except DomainError as error:
            show_error(form, error)
        else:
            return redirect("billing:top_up_order", made.out_trade_no)
    table = TopUpTable(orders.orders(request.actor), request=request)
    paged(request, table, per_page=PER_PAGE)
    found = settings.get(AlipaySettings)
    context = {
        "form": form,
        "table": table,
        "usual": USUAL_YUAN,
        "wallet": wallet(request.actor),
        "ready": found.is_ready,
        "least_fen": found.least_fen,
        "most_fen": found.most_fen,
    }
    return render(request, PAGE, context, status=REFUSED if request.method == "POST" else 200)


@requires(VIEW)
@require_GET
def order(request: ActorRequest, out_trade_no: str) -> HttpResponse:
    """The order; while it is open, the page asks again every few seconds and shows what the notice has changed."""
    return render(request, ORDER, _order(request, orders.order(request.actor, out_trade_no)))


def _order(request: ActorRequest, found: TopUpOrder) -> dict[str, Any]:
    may_pay = request.actor.may(Permission.BILLING_TOP_UP)
    payable = found.status == TopUpStatus.OPEN and found.expires_at > db_now() and may_pay
    context: dict[str, Any] = {"order": found, "payable": payable, "may_cancel": payable, "pay_url": ""}
    if payable:
        try:
            context["pay_url"] = orders.pay_url(request.actor, found, addresses(request))
        except DomainError as error:
            context["problem"] = error
    return context


@requires(VIEW)
@require_GET
def back(request: ActorRequest) -> HttpResponse:
    """Where the payment page sends the browser back. Its parameters are not trusted: we ask the gateway."""
    found = orders.order(request.actor, request.GET.get("out_trade_no", ""))
    if found.status == TopUpStatus.OPEN:
        _look(found)
    return redirect("billing:top_up_order", found.out_trade_no)


@requires(VIEW)
@require_POST
def ask(request: ActorRequest, out_trade_no: str) -> HttpResponse:
    """ "I have paid": ask the gateway at once."""
    found = orders.order(request.actor, out_trade_no)
    if found.status != TopUpStatus.PAID:
        _look(found)
    return redirect("billing:top_up_order", found.out_trade_no)


def _look(found: TopUpOrder) -> None:
    try:
        orders.refresh(found)
    except (OutcomeUnknown, Refused, orders.Mismatch, DomainError) as error:
        log.info("top-up %s: %s", found.out_trade_no, error)


@requires(TOP_UP)
@require_http_methods(["GET", "POST"])
def cancel(request: ActorRequest, out_trade_no: str) -> HttpResponse:
    """A dialog first; then closed at Alipay too, so that nobody pays it by mistake."""
    found = orders.order(request.actor, out_trade_no)
    if request.method == "POST":
        try:
            orders.cancel(request.actor, found)
        except DomainError as error:
            return render(request, ORDER, {**_order(request, found), "problem": error}, status=error.status)
        return redirect("billing:top_up_order", found.out_trade_no)
    context = {
        "title": _("Cancel this top-up?"),
        "text": _("Its payment page closes. If it was paid meanwhile, it is credited all the same."),
        "button": _("Cancel the top-up"),
        "action": reverse("billing:top_up_cancel", args=[found.out_trade_no]),
    }
    return render(request, "components/confirm_body.html", context)


@csrf_exempt
@requires(PUBLIC)
@require_POST
def notify(request: HttpRequest) -> HttpResponse:
    """The gateway's notices. "success" only once the result is in the database; otherwise it is sent again."""
    try:
        notice = notices.read(request.body, settings.get(AlipaySettings))
        orders.handle_notice(notice)
    except notices.Rejected as rejected:
        log.warning("a notice was rejected: %s", rejected.code)
        return HttpResponse(NOT_TAKEN, status=400, content_type="text/plain")
    except (NotFound, orders.Mismatch) as error:
        log.error("a signed notice fits no order: %s", type(error).__name__)
        return HttpResponse(NOT_TAKEN, content_type="text/plain")
    return HttpResponse(TAKEN, content_type="text/plain")
