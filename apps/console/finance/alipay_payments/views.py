"""Payments by Alipay of all organisations: the list, one of them, and asking Alipay about it again."""

from django.db.models import Count, Q, Sum
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.billing.choices import TopUpStatus
from apps.billing.payments.alipay import looking
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError
from apps.common.money import yuan
from apps.common.pages import done, paged, say_refusal
from apps.common.permissions import Permission as P
from apps.console.finance.alipay_payments.listing import AlipayPaymentFilter, AlipayPaymentTable
from apps.console.kit.requests import StaffRequest
from apps.tenants import settings

VIEW, ACT = on_platform(P.PLATFORM_FINANCE_VIEW), on_platform(P.PLATFORM_RECHARGE)
LIST, DETAIL = "console/alipay_payments/list.html", "console/alipay_payments/detail.html"


@requires(VIEW)
@require_GET
def payment_list(request: StaffRequest) -> HttpResponse:
    filtered = AlipayPaymentFilter(request.GET, queryset=looking.payments(request.actor), request=request)
    paid = Q(status=TopUpStatus.PAID)
    sums = filtered.qs.order_by().aggregate(
        paid=Sum("amount_fen", filter=paid), back=Sum("refunded_fen"), count=Count("pk", filter=paid)
    )
    context = {
        "table": paged(request, AlipayPaymentTable(filtered.qs)),
        "filter": filtered,
        "sums": sums,
        "ready": settings.get(AlipaySettings).is_ready,
        "may_set": request.actor.may(P.PLATFORM_SETTINGS_VIEW),
    }
    return render(request, LIST, context)


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, out_trade_no: str) -> HttpResponse:
    order = looking.payment(request.actor, out_trade_no)
    context = {
        "order": order,
        "heard": looking.heard_of(order),
        "refunds": looking.refunds_of(order),
        "compared": looking.compared_of(order),
        "may_ask": request.actor.may(P.PLATFORM_RECHARGE) and settings.get(AlipaySettings).is_ready,
    }
    return render(request, DETAIL, context)


@requires(ACT)
@require_POST
def ask(request: StaffRequest, out_trade_no: str) -> HttpResponse:
    """Ask Alipay; what it confirms as paid is credited, as its notice would have done."""
    try:
        said = looking.ask_again(request.actor, out_trade_no)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:alipay_payment", out_trade_no)
    return done(request, answer_words(said), "console:alipay_payment", out_trade_no)


def answer_words(said: looking.Answer) -> str:
    if said.fen is None:
        return _("Alipay knows nothing of it.")
    return _("Alipay says: %(status)s, %(amount)s.") % {"status": said.status, "amount": yuan(said.fen)}
