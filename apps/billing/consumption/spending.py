"""What was spent since midnight, as it grows: charged and not yet rated together."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.db.models import Q, QuerySet, Sum

from apps.billing.consumption.selectors import ChargeFilter, day_sums, session_days
from apps.billing.days import billing_day
from apps.billing.metering.selectors import unrated_of
from apps.billing.models import Charge, MeterSession, SessionDay
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.prepared import prepared, prepared_in_scope


def charged(actor: Actor, *, filters: ChargeFilter) -> int:
    """Whole fen charged, as far as the actor may see."""
    return day_sums(actor, filters=filters).aggregate(fen=Sum("amount_fen"))["fen"] or 0


def spent_today(workload_ids: Iterable[UUID]) -> dict[UUID, Decimal]:
    """Exact fen of each workload's day so far. The caller has checked that the actor may see them."""
    wanted = tuple(workload_ids)
    return _with_unrated(dict(_rated(workload_ids=wanted, day=billing_day(db_now()))), wanted)


def spent_in_all(workload_ids: Iterable[UUID]) -> dict[UUID, Decimal]:
    """Exact fen of all attempts of each workload so far. The caller has checked that the actor may see them."""
    wanted = tuple(workload_ids)
    rows = Charge.objects.filter(session__workload_id__in=wanted).order_by().values_list("session__workload_id")
    return _with_unrated(dict(rows.annotate(fen=Sum("exact_fen"))), wanted)


def _with_unrated(spent: dict[UUID, Decimal], wanted: tuple[UUID, ...]) -> dict[UUID, Decimal]:
    unsettled = _unsettled_of(workload_ids=wanted)
    pending = unrated_of(unsettled)
    for session in unsettled:
        spent[session.workload_id] = spent.get(session.workload_id, Decimal(0)) + pending[session.pk]
    return spent


@prepared_in_scope
def _rated(*, workload_ids: tuple[UUID, ...], day: date) -> QuerySet[SessionDay, tuple[UUID, Decimal]]:
    rows = SessionDay.objects.filter(session__workload_id__in=workload_ids, day=day)
    return rows.values_list("session__workload_id").annotate(fen=Sum("exact_fen"))


@prepared_in_scope
def _unsettled_of(*, workload_ids: tuple[UUID, ...]) -> QuerySet[MeterSession]:
    return MeterSession.objects.filter(workload_id__in=workload_ids, settled=False).select_related("price_version")


def unrated(actor: Actor) -> Decimal:
    """Exact fen used and not charged yet: of one's own runs, with BILLING_VIEW of the organisation's."""
    return _unrated_total(_unsettled(actor))


@prepared
def _unsettled(actor: Actor, /) -> QuerySet[MeterSession]:
    actor.require(Permission.BILLING_VIEW_OWN)
    rows = MeterSession.objects.filter(organisation_id=actor.organisation(), settled=False)
    if not actor.may(Permission.BILLING_VIEW):
        rows = rows.filter(user_id=actor.person())
    return rows.select_related("price_version")


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
    mine, today, month = next(iter(_sums(actor, first=day.replace(day=1), day=day)), (None, None, None))
    sessions = _unsettled(actor)
    own = (mine or 0) + int(_unrated_total(s for s in sessions if s.user_id == actor.user_id))
    if not actor.may(Permission.BILLING_VIEW):
        return Spending(own, None, None)
    pending = int(_unrated_total(sessions))
    return Spending(own, (today or 0) + pending, (month or 0) + pending)


@prepared
def _sums(
    actor: Actor, /, *, first: date, day: date
) -> QuerySet[SessionDay, tuple[int | None, int | None, int | None]]:
    """Charged to the actor today, to all whom they see today, and to these since `first`: one row, or none."""
    today = Q(day=day)
    rows = session_days(actor, filters=ChargeFilter(since=first, until=day)).filter(organisation=actor.organisation())
    sums = (
        rows.order_by()
        .values("organisation_id")
        .annotate(
            mine=Sum("amount_fen", filter=today & Q(session__user__pk=actor.user_id)),
            today=Sum("amount_fen", filter=today),
            month=Sum("amount_fen"),
        )
    )
    return sums.values_list("mine", "today", "month")
