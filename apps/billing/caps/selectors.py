"""What one workload has cost so far, against the most that it may cost."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Sum

from apps.billing.arithmetic import net_rate, seconds
from apps.billing.covering import Covering
from apps.billing.metering.covering import covering_of, pieces
from apps.billing.metering.selectors import unrated_fen
from apps.billing.models import Charge, MeterSession, SpendingCap

LONGEST = timedelta(days=3650)


@dataclass(frozen=True, slots=True)
class Cap:
    """`limit_fen` None: there is no cap. `spent_fen` is exact, charged and not yet charged together.

    Reached: it was asked to save and stop.
    """

    limit_fen: int | None
    spent_fen: Decimal
    reached_at: datetime | None

    @property
    def percent(self) -> int:
        return min(100, int(self.spent_fen * 100 / self.limit_fen)) if self.limit_fen else 0


def cap_of(workload_id: UUID) -> Cap | None:
    """The caller has checked that the actor may see the workload."""
    found = SpendingCap.objects.filter(pk=workload_id).first()
    return Cap(found.limit_fen, spent_fen(workload_id), found.reached_at) if found else None


def cap_limit(workload_id: UUID) -> int | None:
    """The most that it may cost; None without a cap. The caller has checked that the actor may see the workload."""
    found: int | None = SpendingCap.objects.filter(pk=workload_id).values_list("limit_fen", flat=True).first()
    return found


def spent_fen(workload_id: UUID) -> Decimal:
    """Exact fen of all its attempts, less what was given back, whether the wallet or vouchers paid it.

    After the discount; time that prepaid orders cover costs nothing.
    """
    rows = Charge.objects.filter(session__workload_id=workload_id)
    charged = rows.order_by().aggregate(fen=Sum("exact_fen"))["fen"] or Decimal(0)
    return charged + unrated_fen(workload_id)


@dataclass(frozen=True, slots=True)
class Outlook:
    """When a cap is used up: `at` by what is known now, None where it is not; `soonest` if no prepaid order covered
    anything any more, which is the case as soon as one is given back."""

    at: datetime | None
    soonest: datetime


def outlook(cap: SpendingCap, spent: Decimal) -> Outlook | None:
    """By what is really charged: the discount that the session was opened with, less what prepaid orders cover.

    None while nothing of it runs, or what runs is free.
    """
    session = open_session(cap.workload_id)
    if session is None or (rate := own_rate(session)) <= 0:
        return None
    left = cap.limit_fen - spent
    covering = covering_of(session.organisation_id, since=session.proven_until)
    soonest = session.proven_until + lasts(left, rate * session.replicas)
    return Outlook(_used_up(session, covering, left, rate), soonest)


def open_session(workload_id: UUID) -> MeterSession | None:
    """The one that is metered now, with its price version."""
    rows = MeterSession.objects.filter(workload_id=workload_id, closed_at__isnull=True)
    found: MeterSession | None = rows.select_related("price_version").order_by("-opened_at").first()
    return found


def own_rate(session: MeterSession) -> Decimal:
    """Fen per hour of one replica with the session's discount taken off."""
    return net_rate(session.price_version.rate_fen_per_hour, session.discount_off)


def _used_up(session: MeterSession, covering: Covering, left: Decimal, rate: Decimal) -> datetime | None:
    start = session.proven_until
    for begin, end, covered in pieces(covering, session, start, start + LONGEST):
        paying = rate * (session.replicas - covered)
        if paying <= 0:
            continue
        at = begin + lasts(left, paying)
        if at <= end:
            return at
        left -= paying * seconds(end - begin) / 3600
    return None


def lasts(fen: Decimal | int, rate_fen_per_hour: Decimal) -> timedelta:
    """For how long so many fen last, at most ten years; nothing where they are used up."""
    hours = min(max(Decimal(fen), Decimal(0)) / rate_fen_per_hour, Decimal(24 * LONGEST.days))
    return timedelta(seconds=float(hours * 3600))
