"""Vouchers, found by their note or by the number of the ledger's entry that issued them."""

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.recharges.search import ENTRY
from apps.billing.vouchers.selectors import vouchers
from apps.common.actor import Actor
from apps.common.finding.query import Query
from apps.common.finding.sources import Row, Rows, Source
from apps.common.money import yuan
from apps.common.permissions import Permission


def _entry(query: Query) -> Q | None:
    found = ENTRY.fullmatch(query.text)
    return Q(transfer_id=int(found[1])) if found else None


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    title, sub = yuan(row["amount_fen"]), " · ".join(filter(None, [f"T-{row['transfer_id']}", row["note"]]))
    if not actor.platform:
        return title, sub, reverse("billing:vouchers")
    return title, f"{row['organisation__name']} · {sub}", reverse("console:voucher", args=[row["pk"]])


VOUCHERS = Source(
    name="vouchers",
    label=_("Vouchers"),
    icon="ticket",
    portal=Permission.BILLING_VIEW,
    console=Permission.PLATFORM_FINANCE_VIEW,
    find=Rows(
        rows=vouchers,
        hit=_hit,
        fields=("note",),
        more=("amount_fen", "transfer_id", "organisation__name"),
        ids=(),
        exact=_entry,
    ),
)
