"""What one workload has cost so far, against the most that it may cost."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Sum

from apps.billing.models import Charge, MeterSession, SpendingCap
from apps.billing.selectors.metering import unrated_fen


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
    """Exact fen of all its attempts, less what was given back; whatever paid for it."""
    rows = Charge.objects.filter(session__workload_id=workload_id)
    charged = rows.order_by().aggregate(fen=Sum("exact_fen"))["fen"] or Decimal(0)
    return charged + unrated_fen(workload_id)


def reaches_at(cap: SpendingCap, spent: Decimal) -> datetime | None:
    """When the cap is used up at the price in force without any discount; None while nothing of it runs.

    Discounts and prepaid time only make it last longer, so it is never reached before.
    """
    sessions = MeterSession.objects.filter(workload_id=cap.workload_id, closed_at__isnull=True)
    session = sessions.select_related("price_version").order_by("-opened_at").first()
    rate = session.price_version.rate_fen_per_hour * session.replicas if session else Decimal(0)
    if session is None or rate <= 0:
        return None
    return session.proven_until + lasts(cap.limit_fen - spent, rate)


def lasts(fen: Decimal | int, rate_fen_per_hour: Decimal) -> timedelta:
    """For how long so many fen last, at most ten years; nothing where they are used up."""
    hours = min(max(Decimal(fen), Decimal(0)) / rate_fen_per_hour, Decimal(24 * 3650))
    return timedelta(seconds=float(hours * 3600))
