"""What came into wallets, and what was taken back of it."""

from django.db.models import BigIntegerField, Case, F, QuerySet, When

from apps.billing.choices import TransferKind
from apps.billing.models import Transfer
from apps.common.actor import Actor
from apps.common.permissions import Permission


def recharges(actor: Actor) -> QuerySet[Transfer]:
    """Top-ups and what was taken back of them, newest first, with `into_wallet_fen` (below zero for the latter).

    The actor's organisation's, or all of them for the platform's finance staff.
    """
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    back = When(kind=TransferKind.REFUND, then=-F("amount_fen"))
    # What goes on from refund clearing is between the platform's own accounts.
    moved = Transfer.objects.filter(kind__in=[TransferKind.TOP_UP, TransferKind.REFUND], organisation__isnull=False)
    rows: QuerySet[Transfer] = moved.annotate(
        into_wallet_fen=Case(back, default=F("amount_fen"), output_field=BigIntegerField())
    )
    rows = rows.select_related("organisation")
    return rows.order_by("-at", "-id")
