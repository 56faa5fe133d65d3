"""What was spent since midnight, as it grows: charged and not yet rated together."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import Q, Sum

from apps.billing.consumption.selectors import ChargeFilter, day_sums, session_days
from apps.billing.days import billing_day
from apps.billing.metering.selectors import unrated_of
from apps.billing.models import MeterSession, SessionDay
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission


def charged(actor: Actor, *, filters: ChargeFilter) -> int:
    """Whole fen charged, as far as the actor may see."""
    return day_sums(actor, filters=filters).aggregate(fen=Sum("amount_fen"))["fen"] or 0


def spent_today(workload_ids: Iterable[UUID]) -> dict[UUID, Decimal]:
    """Exact fen of each workload's day so far. The caller has checked that the actor may see them."""
    wanted = list(workload_ids)
    rows = SessionDay.objects.filter(session__workload_id__in=wanted, day=billing_day(db_now()))
    totals = rows.values_list("session__workload_id").annotate(fen=Sum("exact_fen"))
    spent: dict[UUID, Decimal] = dict(totals)
    unsettled = MeterSession.objects.filter(workload_id__in=wanted, settled=False).select_related("price_version")
    pending = unrated_of(unsettled)
    for session in unsettled:
        spent[session.workload_id] = spent.get(session.workload_id, Decimal(0)) + pending[session.pk]
    return spent


def unrated(actor: Actor) -> Decimal:
    """Exact fen used and not charged yet: of one's own runs, with BILLING_VIEW of the organisation's."""
    return _unrated_total(_unsettled(actor))


def _unsettled(actor: Actor) -> list[MeterSession]:
    actor.require(Permission.BILLING_VIEW_OWN)
    rows = MeterSession.objects.filter(organisation_id=actor.organisation(), settled=False)
    if not actor.may(Permission.BILLING_VIEW):
        rows = rows.filter(user_id=actor.person())
    return list(rows.select_related("price_version"))


def _unrated_total(sessions: Iterable[MeterSession]) -> Decimal:
    return sum(unrated_of(sessions).values(), Decimal(0))


@dataclass(frozen=True, slots=True)
class Spending:
    """Whole fen, charged or not yet; the organisation's are None for somebody who may see only their own."""

    mine_today_fen: int
    all_today_fen: int | None
    all_month_fen: int | None


def spending(actor: Actor) -> Spending:
    """What was spent today and this month, in two queries."""
    day = billing_day(db_now())
    rows = session_days(actor, filters=ChargeFilter(since=day.replace(day=1), until=day))
    today = Q(day=day)
    sums = rows.aggregate(
        mine=Sum("amount_fen", filter=today & Q(session__user__pk=actor.user_id)),
        today=Sum("amount_fen", filter=today),
        month=Sum("amount_fen"),
    )
    sessions = _unsettled(actor)
    mine = (sums["mine"] or 0) + int(_unrated_total(s for s in sessions if s.user_id == actor.user_id))
    if not actor.may(Permission.BILLING_VIEW):
        return Spending(mine, None, None)
    pending = int(_unrated_total(sessions))
    return Spending(mine, (sums["today"] or 0) + pending, (sums["month"] or 0) + pending)
