"""Poll the gateway about payments whose notices have not arrived."""

import logging
from datetime import datetime, timedelta

from django.db import transaction

from apps.billing.models import TopUpOrder
from apps.billing.payments.alipay.client import OutcomeUnknown, Refused
from apps.billing.payments.alipay.orders import Mismatch, refresh
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.common.clock import db_now
from apps.tenants import settings

log = logging.getLogger(__name__)

# Minutes after the start at which an open order is asked about; then once it has expired.
ASK_AFTER = (1, 5, 15, 60)
# After its expiry the gateway is asked this often before staff have to look.
ASK_AGAIN = timedelta(minutes=30)
MOST_QUERIES = 40


def query_due_orders(*, limit: int = 20) -> int:
    """Ask about open orders that are due; return how many. An error with one does not delay the others."""
    if not settings.get(AlipaySettings).is_ready:
        return 0
    due = [_next(pk) for pk in _due(limit)]
    for order in due:
        if order is not None:
            _ask(order)
    return len(due)


def _due(limit: int) -> list[int]:
    rows = TopUpOrder.objects.filter(next_query_at__lte=db_now()).order_by("next_query_at")
    return list(rows.values_list("pk", flat=True)[:limit])


def _next(pk: int) -> TopUpOrder | None:
    """Claim it: the next query's time is written before asking the gateway, so that a crash repeats nothing."""
    with transaction.atomic():
        now = db_now()
        rows = TopUpOrder.objects.select_for_update(skip_locked=True)
        found: TopUpOrder | None = rows.filter(pk=pk, next_query_at__lte=now).first()
        if found is not None:
            found.queries += 1
            found.next_query_at = next_query(found, now)
            found.save(update_fields=["queries", "next_query_at"])
        return found


def next_query(order: TopUpOrder, now: datetime) -> datetime | None:
    """After 1, 5, 15 and 60 minutes and at the expiry; then every half hour, until `MOST_QUERIES`."""
    planned = [order.created_at + timedelta(minutes=each) for each in ASK_AFTER]
    later = [at for at in (*planned, order.expires_at + timedelta(minutes=1)) if at > now]
    if later:
        return min(later)
    return now + ASK_AGAIN if order.queries < MOST_QUERIES else None


def _ask(order: TopUpOrder) -> None:
    try:
        refresh(order)
    except (OutcomeUnknown, Refused) as error:
        log.info("top-up %s: %s", order.out_trade_no, error)
    except Mismatch:
        log.error("top-up %s: the gateway knows another amount", order.out_trade_no)
