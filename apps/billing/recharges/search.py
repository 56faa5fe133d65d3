"""Payments into wallets, found by reference or by the number of the ledger's entry (T-123)."""

import re

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import TransferKind
from apps.billing.recharges.selectors import recharges
from apps.common.actor import Actor
from apps.common.finding.query import Query
from apps.common.finding.sources import Row, Rows, Source
from apps.common.formatting import moment
from apps.common.money import yuan
from apps.common.permissions import Permission

ENTRY = re.compile(r"(?:t-?)?([0-9]{1,18})")


def _entry(query: Query) -> Q | None:
    found = ENTRY.fullmatch(query.text)
    return Q(pk=int(found[1])) if found else None


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    kind = str(TransferKind(row["kind"]).label)
    parts = [f"T-{row['pk']}", yuan(row["into_wallet_fen"]), kind, moment(row["at"])]
    if not actor.platform:
        return row["ref"], " · ".join(parts), reverse("billing:wallet")
    sub = " · ".join([row["organisation__name"], *parts])
    return row["ref"], sub, reverse("console:recharge", args=[row["pk"]])


RECHARGES = Source(
    name="recharges",
    label=_("Recharges"),
    icon="cash",
    portal=Permission.BILLING_VIEW,
    console=Permission.PLATFORM_FINANCE_VIEW,
    find=Rows(
        rows=recharges,
        hit=_hit,
        fields=("ref", "note"),
        more=("kind", "into_wallet_fen", "organisation__name"),
        newest="at",
        ids=(),
        exact=_entry,
    ),
)
