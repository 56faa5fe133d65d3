"""What was spent since midnight, as it grows: charged and not yet rated together."""

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Sum

from apps.billing.arithmetic import exact_fen
from apps.billing.models import Charge, MeterSession
from apps.billing.selectors.consumption import ChargeFilter, charges
from apps.billing.selectors.metering import session_fen
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission

BILLING_ZONE = ZoneInfo(settings.BILLING_TIME_ZONE)


def billing_day(at: datetime) -> date:
    """The day that a moment is charged to."""
    return at.astimezone(BILLING_ZONE).date()


def charged(actor: Actor, *, filters: ChargeFilter) -> int:
    """Whole fen charged, as far as the actor may see."""
    return charges(actor, filters=filters).order_by().aggregate(fen=Sum("amount_fen"))["fen"] or 0


def spent_today(workload_ids: Iterable[UUID]) -> dict[UUID, Decimal]:
    """Exact fen of each workload's day so far. The caller has checked that the actor may see them."""
    wanted = list(workload_ids)
    rows = Charge.objects.filter(session__workload_id__in=wanted, day=billing_day(db_now()))
    totals = rows.order_by().values_list("session__workload_id").annotate(fen=Sum("exact_fen"))
    spent: dict[UUID, Decimal] = dict(totals)
    unsettled = MeterSession.objects.filter(workload_id__in=wanted, settled=False).select_related("price_version")
    for session in unsettled:
        spent[session.workload_id] = spent.get(session.workload_id, Decimal(0)) + _unrated(session)
    return spent


def _unrated(session: MeterSession) -> Decimal:
    rated = session.rated_until - session.opened_at
    return session_fen(session) - exact_fen(session.price_version.rate_fen_per_hour, session.replicas, rated)


def unrated(actor: Actor, *, own: bool = False) -> Decimal:
    """Exact fen used and not charged yet: the organisation's with BILLING_VIEW, otherwise (or with `own`) one's own."""
    actor.require(Permission.BILLING_VIEW_OWN)
    rows = MeterSession.objects.filter(organisation_id=actor.organisation(), settled=False)
    if own or not actor.may(Permission.BILLING_VIEW):
        rows = rows.filter(user__pk=actor.user_id)
    return sum((_unrated(session) for session in rows.select_related("price_version")), Decimal(0))
