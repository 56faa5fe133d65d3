"""Notify people of credited payments after the gateway has got its answer.

The credit marks the order in its own transaction; whoever comes first afterwards tells of it and takes the mark away in
one transaction. A death in between loses nothing, and a notice has a key of its own: each person is told once.
"""

from django.db import transaction

from apps.billing.models import TopUpOrder
from apps.notifications.services import notify_organisation

BATCH = 200


def notify_due(*, limit: int = BATCH) -> int:
    """Notify of payments not notified yet, oldest first; return how many. Skips those that other workers hold."""
    due = TopUpOrder.objects.filter(untold=True).order_by("pk").values_list("pk", flat=True)[:limit]
    return sum(_tell(pk) for pk in list(due))


def _tell(pk: int) -> bool:
    with transaction.atomic():
        rows = TopUpOrder.objects.select_for_update(skip_locked=True)
        order: TopUpOrder | None = rows.filter(pk=pk, untold=True).first()
        if order is None:
            return False
        notify_organisation(
            organisation_id=order.organisation_id,
            kind="billing.topped_up",
            data={"amount_fen": order.amount_fen},
            dedup=f"topup:{order.out_trade_no}",
        )
        TopUpOrder.objects.filter(pk=pk).update(untold=False)
        return True
