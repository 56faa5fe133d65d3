"""Adjustments: the organisation its own, the platform's finance staff all."""

from django.db.models import BigIntegerField, Case, F, QuerySet, When

from apps.billing.choices import AccountKind, TransferKind
from apps.billing.models import Transfer
from apps.common.actor import Actor
from apps.common.permissions import Permission


def adjustments(actor: Actor) -> QuerySet[Transfer]:
    """Newest first, with `into_wallet_fen` (below zero for debit notes)."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    out = When(debit__kind=AccountKind.CASH, then=-F("amount_fen"))
    rows: QuerySet[Transfer] = Transfer.objects.filter(kind=TransferKind.ADJUSTMENT).annotate(
        into_wallet_fen=Case(out, default=F("amount_fen"), output_field=BigIntegerField())
    )
    rows = rows.select_related("organisation", "recharge_request__requested_by", "recharge_request__decided_by")
    return rows.order_by("-at", "-id")
