"""Prepaid orders, found by their id or by the package that they are for."""

from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import PrepaidStatus
from apps.billing.prepaid.selectors import prepaid_orders
from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    chinese = (get_language() or "").startswith("zh")
    name = row["package__name_zh" if chinese else "package__name_en"]
    sub = f"{PrepaidStatus(row['status']).label} · {str(row['pk'])[:8]}"
    if not actor.platform:
        return name, sub, reverse("billing:prepaid_order", args=[row["pk"]])
    return name, f"{row['organisation__name']} · {sub}", reverse("console:prepaid_order", args=[row["pk"]])


ORDERS = Source(
    name="prepaid",
    label=_("Prepaid"),
    icon="calendar-dollar",
    portal=Permission.BILLING_VIEW,
    console=Permission.PLATFORM_FINANCE_VIEW,
    find=Rows(
        rows=prepaid_orders,
        hit=_hit,
        fields=("package__name_zh", "package__name_en"),
        more=("status", "organisation__name"),
        owner="user_id",
    ),
)
