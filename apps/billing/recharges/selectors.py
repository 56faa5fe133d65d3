"""Payments into wallets and their reversals."""

from django.db.models import BigIntegerField, Case, F, OuterRef, QuerySet, Subquery, When

from apps.billing.choices import TransferKind
from apps.billing.models import ReceivedPayment, Transfer
from apps.common.actor import Actor
from apps.common.permissions import Permission


def recharges(actor: Actor) -> QuerySet[Transfer]:
    """Top-ups and their reversals, newest first, with `into_wallet_fen` (below zero for reversals).

    And with `paid_on`, `payer` and `method` where staff have recorded them.

    The actor's organisation's, or all of them for the platform's finance staff.
    """
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    back = When(kind=TransferKind.REFUND, then=-F("amount_fen"))
    # What leaves refund clearing moves between the platform's own accounts.
    moved = Transfer.objects.filter(kind__in=[TransferKind.TOP_UP, TransferKind.REFUND], organisation__isnull=False)
    rows: QuerySet[Transfer] = moved.annotate(
        into_wallet_fen=Case(back, default=F("amount_fen"), output_field=BigIntegerField())
    )
    rows = rows.select_related("organisation", "recharge_request__requested_by", "recharge_request__decided_by")
    received = ReceivedPayment.objects.filter(organisation_id=OuterRef("organisation_id"), reference=OuterRef("ref"))
    rows = rows.annotate(
        paid_on=Subquery(received.values("paid_on")),
        payer=Subquery(received.values("payer")),
        method=Subquery(received.values("method")),
    )
    return rows.order_by("-at", "-id")
