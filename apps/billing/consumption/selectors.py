"""What the money went to: totals, down to the charge of one slice with its formula.

Totals read the sums that are kept of charges (`models.kept_sums`), never the charges.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum

from apps.billing.arithmetic import net_rate, seconds
from apps.billing.metering.selectors import unrated_of
from apps.billing.models import Charge, DaySum, MeterSession, SessionDay
from apps.billing.models.rating import CREDIT
from apps.common.actor import Actor
from apps.common.permissions import Permission


@dataclass(frozen=True, slots=True)
class ChargeFilter:
    """Days of the billing zone, both ends included; None limits nothing."""

    since: date | None = None
    until: date | None = None
    workload_id: UUID | None = None
    user_id: int | None = None
    organisation_id: UUID | None = None


EVERYTHING = ChargeFilter()
# Sums of charges. Both kinds name what they sum as a charge does; only sessions' days know runs and people.
Summed = QuerySet[SessionDay] | QuerySet[DaySum]
# Rows are dicts of a grouped query.
Totals = QuerySet[Any, Any]
M = TypeVar("M", Charge, SessionDay)


@dataclass(frozen=True, slots=True)
class WorkloadCost:
    """A workload's cost so far: charged (whole fen), metered but not rated yet, and both exactly.

    `credited_exact` was given back because the work was lost; the other figures already exclude it.
    """

    charged_fen: int
    unrated_fen: Decimal
    exact_fen: Decimal
    seconds: Decimal
    rate_fen_per_hour: Decimal | None
    credited_exact: Decimal = Decimal(0)

    @property
    def rated_exact(self) -> Decimal:
        """What was rated so far, exactly; `charged_fen` is its share of what was posted."""
        return self.exact_fen - self.unrated_fen

    @property
    def is_below_a_fen(self) -> bool:
        """Whether something was rated of which no whole fen was posted yet: 0.00 would say that it was free."""
        return self.charged_fen == 0 and self.rated_exact > 0


def charges(actor: Actor, *, filters: ChargeFilter = EVERYTHING) -> QuerySet[Charge]:
    """Charges, newest first, with session and price version: one's own runs with BILLING_VIEW_OWN, the organisation's
    with BILLING_VIEW, everybody's for the platform's finance staff."""
    rows = _visible(actor, Charge.objects.filter(**_conditions(filters)))
    return rows.select_related("session__user", "price_version__package").order_by("-start", "-id")


def session_days(actor: Actor, *, filters: ChargeFilter = EVERYTHING) -> QuerySet[SessionDay]:
    """Sums of the same charges by session and day, unordered: for whatever asks for runs or people."""
    return _visible(actor, SessionDay.objects.filter(**_conditions(filters)))


def day_sums(actor: Actor, *, filters: ChargeFilter = EVERYTHING) -> Summed:
    """The fewest kept sums that tell these charges apart by day, price version and organisation, unordered."""
    own_only = not actor.platform and not actor.may(Permission.BILLING_VIEW)
    if own_only or filters.workload_id is not None or filters.user_id is not None:
        return session_days(actor, filters=filters)
    if actor.platform:
        actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows: QuerySet[DaySum] = DaySum.objects.filter(**_conditions(filters))
    return rows


def _visible(actor: Actor, rows: QuerySet[M]) -> QuerySet[M]:
    if actor.platform:
        actor.require(Permission.PLATFORM_FINANCE_VIEW)
    elif not actor.may(Permission.BILLING_VIEW):
        actor.require(Permission.BILLING_VIEW_OWN)
        return rows.filter(session__user__pk=actor.user_id or 0)  # the platform itself has no runs of its own
    return rows


def consumption_by_day(actor: Actor, *, filters: ChargeFilter = EVERYTHING) -> Totals:
    """One row for each day with charges: day, amount_fen, exact_fen, seconds, workloads; newest first."""
    rows = session_days(actor, filters=filters).values("day")
    return rows.annotate(**_totals(), workloads=Count("session__workload_id", distinct=True)).order_by("-day")


def consumption_by_workload(actor: Actor, *, filters: ChargeFilter = EVERYTHING) -> Totals:
    """One row for each workload: workload_id, label, username, totals, first and last instant; newest first."""
    grouped = session_days(actor, filters=filters).values(
        workload_id=F("session__workload_id"), label=F("session__label"), username=F("session__user__username")
    )
    return grouped.annotate(**_totals(), first=Min("start"), last=Max("end")).order_by("-last", "workload_id")


def consumption_by_organisation(actor: Actor, *, filters: ChargeFilter = EVERYTHING) -> Totals:
    """One row for each organisation: organisation_id, name, totals; the greatest first. Platform staff only."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    return by_organisation(day_sums(actor, filters=filters))


def by_organisation(rows: Summed) -> Totals:
    """`consumption_by_organisation` for sums that were filtered by other means."""
    grouped = rows.values("organisation_id", name=F("organisation__name"))
    return grouped.annotate(**_totals()).order_by("-amount_fen", "name")


def workload_cost(actor: Actor, *, workload_id: UUID) -> WorkloadCost:
    """What one workload costs, up to its last proof of running. The caller has checked that the actor may see it."""
    rows = MeterSession.objects.filter(workload_id=workload_id).select_related("price_version")
    sessions = list(rows.order_by("opened_at"))
    sums = Charge.objects.filter(session__workload_id=workload_id).aggregate(
        fen=Sum("amount_fen"), exact=Sum("exact_fen"), credited=Sum("exact_fen", filter=Q(revision=CREDIT))
    )
    length, rate = timedelta(), None
    for session in sessions:
        length += session.proven_until - session.opened_at
        rate = net_rate(session.price_version.rate_fen_per_hour, session.discount_off) * session.replicas
    unrated = sum(unrated_of(session for session in sessions if not session.settled).values(), Decimal(0))
    exact, credited = (sums["exact"] or Decimal(0)) + unrated, -(sums["credited"] or Decimal(0))
    return WorkloadCost(sums["fen"] or 0, max(unrated, Decimal(0)), exact, seconds(length), rate, credited)


def _conditions(filters: ChargeFilter) -> dict[str, Any]:
    conditions = {
        "day__gte": filters.since,
        "day__lte": filters.until,
        "session__workload_id": filters.workload_id,
        "session__user_id": filters.user_id,
        "organisation_id": filters.organisation_id,
    }
    return {name: value for name, value in conditions.items() if value is not None}


def _totals() -> dict[str, Sum]:
    return {name: Sum(name) for name in ("amount_fen", "exact_fen", "seconds")}
