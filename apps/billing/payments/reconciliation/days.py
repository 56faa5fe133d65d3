"""Which days' bills are fetched, and when. A day's bill is there the next morning at about ten, in China's time."""

import logging
from datetime import date, datetime, time, timedelta

from django.db import transaction
from django.db.models import Min

from apps.billing.bill_choices import BillSource
from apps.billing.models import BillDay, TopUpOrder
from apps.billing.payments.alipay.client import OutcomeUnknown, Refused
from apps.billing.payments.alipay.orders import client
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.billing.payments.reconciliation import comparing as reconciliation
from apps.billing.payments.reconciliation.bills import CHINA
from apps.billing.payments.reconciliation.download import fetch
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.tenants import settings

log = logging.getLogger(__name__)
READY = time(10, 0)
KEPT = timedelta(days=180)  # Alipay gives bills of the last six months
AGAIN, LATER = timedelta(minutes=30), timedelta(hours=6)
SOON = 12  # this often every half hour, then every six hours
MOST = 60
# After so many answers that there is none, a day on which we know of no payment has none.
FINAL = 6


def reconcile_due(actor: Actor, *, limit: int = 3) -> int:
    """Fetch and compare the bills that are due, oldest first; return the number of days looked at."""
    if not settings.get(AlipaySettings).is_ready:
        return 0
    now = db_now()
    plan_days(now)
    rows = BillDay.objects.filter(next_try_at__lte=now).order_by("next_try_at", "day")
    claimed = [_claim(day) for day in rows.values_list("day", flat=True)[:limit]]
    for row in claimed:
        if row is not None:
            fetch_day(actor, row)
    reconciliation.compare_again(actor)
    return len(claimed)


def plan_days(now: datetime) -> None:
    """A row for every past day since the first order, as far back as Alipay keeps bills."""
    first = TopUpOrder.objects.aggregate(at=Min("created_at"))["at"]
    if first is None:
        return
    today = now.astimezone(CHINA).date()
    start = max(first.astimezone(CHINA).date(), today - KEPT)
    days = [start + timedelta(days=n) for n in range((today - start).days)]
    known = set(BillDay.objects.filter(day__gte=start).values_list("day", flat=True))
    missing = [BillDay(day=day, next_try_at=ready_at(day)) for day in days if day not in known]
    BillDay.objects.bulk_create(missing, ignore_conflicts=True)


def ready_at(day: date) -> datetime:
    return datetime.combine(day + timedelta(days=1), READY, CHINA)


def fetch_day(actor: Actor, row: BillDay) -> None:
    """Fetch the day's bill and compare it. An error is recorded on the row, and the day is tried again."""
    try:
        url = client().bill_url(row.day)
        if url is None:
            reconciliation.record_missing_bill(actor, row.day, final=row.tries >= FINAL)
            return
        content = fetch(url, gateway=settings.get(AlipaySettings).gateway)
        reconciliation.import_bill(actor, day=row.day, content=content, source=BillSource.DOWNLOADED)
    except (OutcomeUnknown, Refused) as error:
        _failed(row, f"{error}")
    except DomainError as error:
        _failed(row, str(error.message))


def _failed(row: BillDay, problem: str) -> None:
    log.warning("the bill of %s: %s", row.day, problem)
    BillDay.objects.filter(pk=row.pk).update(problem=problem[:200])


def _claim(day: date) -> BillDay | None:
    """The next try is written before asking the gateway, so that a crash is retried then and no sooner."""
    with transaction.atomic():
        now = db_now()
        rows = BillDay.objects.select_for_update(skip_locked=True)
        found: BillDay | None = rows.filter(pk=day, next_try_at__lte=now).first()
        if found is not None:
            found.tries += 1
            found.next_try_at = next_try(found.tries, now)
            found.save(update_fields=["tries", "next_try_at"])
        return found


def next_try(tries: int, now: datetime) -> datetime | None:
    if tries >= MOST:
        return None
    return now + (AGAIN if tries < SOON else LATER)
