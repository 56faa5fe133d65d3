"""What one workload has cost so far, against the most that it may cost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from uuid import UUID

from django.db.models import Sum

from apps.billing.arithmetic import net_rate, seconds
from apps.billing.covering import Covering
from apps.billing.metering.covering import covering_of, pieces
from apps.billing.metering.selectors import sessions_of, unrated_fen
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
    """Exact fen of all its attempts, or of all replicas of a set, whether the wallet or vouchers paid it.

    Less what was given back, after the discount; time that prepaid orders cover costs nothing.
    """
    rows = Charge.objects.filter(session__in=sessions_of(workload_id).order_by().values("pk"))
    charged = rows.order_by().aggregate(fen=Sum("exact_fen"))["fen"] or Decimal(0)
    return charged + unrated_fen(workload_id)


@dataclass(frozen=True, slots=True)
class Outlook:
    """When a cap is used up: `at` by what is known now, None where it is not; `soonest` if no prepaid order covered
    anything any more, which is the case as soon as one is given back. `may_grow`: of a set, more of which may start."""

    at: datetime | None
    soonest: datetime
    may_grow: bool = False


def outlook(cap: SpendingCap, spent: Decimal) -> Outlook | None:
    """By what is really charged: the discount that each session was opened with, less what prepaid orders cover.

    None while nothing of it runs, or what runs is free.
    """
    sessions = [each for each in sessions_of(cap.workload_id).filter(closed_at__isnull=True) if own_rate(each) > 0]
    if not sessions:
        return None
    left, start = cap.limit_fen - spent, min(each.proven_until for each in sessions)
    covering = covering_of(cap.organisation_id, since=start)
    rate = sum((own_rate(each) * each.replicas for each in sessions), Decimal(0))
    may_grow = any(each.set_id is not None for each in sessions)
    return Outlook(_used_up(sessions, covering, left), start + affordable_time(left, rate), may_grow)


def open_session(workload_id: UUID) -> MeterSession | None:
    """The one that is metered now, with its price version."""
    rows = MeterSession.objects.filter(workload_id=workload_id, closed_at__isnull=True)
    found: MeterSession | None = rows.select_related("price_version").order_by("-opened_at").first()
    return found


def own_rate(session: MeterSession) -> Decimal:
    """Fen per hour of one replica with the session's discount taken off."""
    return net_rate(session.price_version.rate_fen_per_hour, session.discount_off)


def _used_up(sessions: Iterable[MeterSession], covering: Covering, left: Decimal) -> datetime | None:
    """When all of these together have used what is left; each is charged from its last proof on."""
    rate, changes = Decimal(0), sorted(change for each in sessions for change in _changes(each, covering))
    for (begin, change), (end, _next) in pairwise(changes):
        rate += change
        if rate <= 0:
            continue
        at = begin + affordable_time(left, rate)
        if at <= end:
            return at
        left -= rate * seconds(end - begin) / 3600
    return None


def _changes(session: MeterSession, covering: Covering) -> Iterator[tuple[datetime, Decimal]]:
    """When what is paid for it goes up or down from now on, and by how many fen per hour."""
    start, rate = session.proven_until, own_rate(session)
    for begin, end, covered in pieces(covering, session, start, start + LONGEST):
        yield begin, rate * (session.replicas - covered)
        yield end, -rate * (session.replicas - covered)


def affordable_time(fen: Decimal | int, rate_fen_per_hour: Decimal) -> timedelta:
    """How long so many fen last at this rate, at most ten years; zero if they are used up."""
    hours = min(max(Decimal(fen), Decimal(0)) / rate_fen_per_hour, Decimal(24 * LONGEST.days))
    return timedelta(seconds=float(hours * 3600))
