"""What happens to prepaid orders over time: notices before the end, automatic renewal, the grace, the end.

Each pass finds in the database what is due, so that the next one catches up on a missed pass; every notice has a key,
so that nobody is notified twice.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.billing import policy
from apps.billing.choices import PrepaidEnd, PrepaidStatus, Term
from apps.billing.covering import Occupant
from apps.billing.metering.covering import covering_of, occupant, open_sessions
from apps.billing.models import Account, PrepaidOrder, PrepaidStop
from apps.billing.periods import period_start, tenth_of
from apps.billing.prepaid.earning import for_each_isolated
from apps.billing.prepaid.selectors import next_period, renewal_quote
from apps.billing.prepaid.services import audit_values, locked, log, renew_locked
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.notifications.services import notify_organisation


def prepaid_sweep(actor: Actor, *, now: datetime | None = None) -> int:
    """Process every active order whose end is near or over; returns how many were renewed or have expired."""
    now = now or db_now()
    ahead = timedelta(days=max(policy.PREPAID_NOTICE_DAYS, default=1))
    due = PrepaidOrder.objects.filter(status=PrepaidStatus.ACTIVE, ends_at__lte=now + ahead)
    ids = due.order_by("ends_at", "pk").values_list("pk", flat=True)
    return for_each_isolated(ids, lambda order_id: _sweep_order(actor, order_id, now))


def _sweep_order(actor: Actor, order_id: UUID, now: datetime) -> bool:
    with transaction.atomic():
        wallet, found = locked(order_id)
        if found.status != PrepaidStatus.ACTIVE:
            return False
        if found.covers_until <= now:
            _expire(actor, found)
            return True
        if found.auto_renew and found.ends_at - _ahead(found) <= now and _renew(actor, wallet, found):
            return True
        _remind(found, now)
        return False


def _ahead(found: PrepaidOrder) -> timedelta:
    last = period_start(found.anchor, Term(found.term), next_period(found) - 1)
    return min(policy.PREPAID_RENEW_AHEAD, tenth_of(last, found.ends_at))


def _renew(actor: Actor, wallet: Account, found: PrepaidOrder) -> bool:
    """Renew by one period at the price in force. A reason against it is notified once; the next pass tries again."""
    ended = found.ends_at
    try:
        with transaction.atomic():
            renew_locked(actor, wallet, found, 1, automatic=True)
    except DomainError as error:
        found.refresh_from_db()
        _tell(found, "prepaid.not_renewed", {"code": error.code}, key=f"not:{ended.isoformat()}")
        return False
    _tell(found, "prepaid.renewed", {}, key=f"renewed:{ended.isoformat()}")
    return True


def _remind(found: PrepaidOrder, now: datetime) -> None:
    """Remind of the end on the days that the policy names, and once of an end that has passed."""
    if found.ends_at <= now:
        data = {"covers_until": found.covers_until.isoformat()}
        _tell(found, "prepaid.grace", data, key=f"grace:{found.ends_at.isoformat()}")
        return
    days = _days_to_tell(found, now)
    if days is None or (found.told_days is not None and found.told_days <= days):
        return
    _tell(found, "prepaid.ending", {"days": days, **_renewal(found)}, key=f"{days}:{found.ends_at.isoformat()}")
    found.told_days = days
    found.save(update_fields=["told_days"])


def _days_to_tell(found: PrepaidOrder, now: datetime) -> int | None:
    """The fewest days whose moment has come, of those that lie within the time last bought."""
    last = found.purchases.order_by("-number").first()
    bought = last.created_at if last else found.created_at
    moments = {days: found.ends_at - timedelta(days=days) for days in policy.PREPAID_NOTICE_DAYS}
    return min((days for days, moment in moments.items() if bought < moment <= now), default=None)


def _renewal(found: PrepaidOrder) -> Mapping[str, Any]:
    """What renewing costs and what the wallet has for it; nothing where it is not offered any more."""
    try:
        quote = renewal_quote(found)
    except DomainError:
        return {"auto_renew": found.auto_renew, "offered": False}
    return {
        "auto_renew": found.auto_renew,
        "offered": True,
        "amount_fen": quote.amount_fen,
        "shortfall_fen": quote.shortfall_fen,
    }


def _expire(actor: Actor, found: PrepaidOrder) -> None:
    """End it: work is charged by the hour, or recorded for the kernel to save and stop if its owner wants so."""
    before = audit_values(found)
    if found.at_end == PrepaidEnd.STOP:
        _write_stops(found)
    found.status = PrepaidStatus.EXPIRED
    found.save(update_fields=["status"])
    log(actor, found, "expire", before, audit_values(found))
    _tell(found, "prepaid.expired", {"at_end": found.at_end}, key=f"expired:{found.ends_at.isoformat()}")


def _write_stops(found: PrepaidOrder) -> None:
    """Record stops for running sessions that the order covered up to its end and nothing covers after it."""
    end = found.covers_until
    covering = covering_of(found.organisation_id, since=end - _INSTANT)
    stops = []
    for session in open_sessions(found.organisation_id, found.package_id):
        who: Occupant = occupant(session)
        if session.opened_at < end and covering.at(who, end - _INSTANT) > covering.at(who, end):
            stops.append(
                PrepaidStop(workload_id=session.workload_id, organisation_id=found.organisation_id, order=found)
            )
    PrepaidStop.objects.bulk_create(stops, ignore_conflicts=True)


_INSTANT = timedelta(microseconds=1)


def _tell(found: PrepaidOrder, kind: str, data: Mapping[str, Any], *, key: str) -> None:
    facts = {
        "order": str(found.pk),
        "package_en": found.package.name_en,
        "package_zh": found.package.name_zh,
        "quantity": found.quantity,
        "ends_at": found.ends_at.isoformat(),
        **data,
    }
    notify_organisation(organisation_id=found.organisation_id, kind=kind, data=facts, dedup=f"prepaid:{found.pk}:{key}")
