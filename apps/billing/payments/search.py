"""Payments by Alipay, found by our order number or by Alipay's."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import TopUpStatus
from apps.billing.payments.alipay.orders import orders
from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.money import yuan
from apps.common.permissions import Permission


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    sub = " · ".join(filter(None, [yuan(row["amount_fen"]), str(TopUpStatus(row["status"]).label), row["trade_no"]]))
    if not actor.platform:
        return row["out_trade_no"], sub, reverse("billing:top_up_order", args=[row["out_trade_no"]])
    there = reverse("console:alipay_payment", args=[row["out_trade_no"]])
    return row["out_trade_no"], f"{row['organisation__name']} · {sub}", there


TOP_UPS = Source(
    name="top_ups",
    label=_("Payments by Alipay"),
    icon="credit-card",
    portal=Permission.BILLING_VIEW,
    console=Permission.PLATFORM_FINANCE_VIEW,
    find=Rows(
        rows=orders,
        hit=_hit,
        fields=("out_trade_no", "trade_no"),
        more=("amount_fen", "status", "organisation__name"),
        owner="user_id",
        ids=(),
    ),
)
