"""What the gateway has told about a payment, kept for whoever looks into it.

Only notices with a valid signature about an order of ours are kept; others prove nothing.
"""

from django.db.models import F
from django.db.models.functions import Now

from apps.billing.choices import NoticeOutcome
from apps.billing.models import TopUpNotice, TopUpOrder
from apps.billing.payments.alipay.notices import TradeNotice


def keep_notice(order: TopUpOrder, notice: TradeNotice, outcome: NoticeOutcome) -> None:
    """Keep it, or count it once more where it is known; a repetition does not change what the first one did.

    The caller acts as the platform. Where a notice credits, this is in the same transaction.
    """
    kept, new = TopUpNotice.objects.get_or_create(
        order=order,
        notify_id=notice.notify_id[:128],
        defaults={
            "organisation_id": order.organisation_id,
            "trade_status": notice.status[:32],
            "total_fen": notice.total_fen,
            "refund_fen": notice.refund_fen,
            "outcome": outcome,
        },
    )
    if not new:
        TopUpNotice.objects.filter(pk=kept.pk).update(heard=F("heard") + 1, last_at=Now())
