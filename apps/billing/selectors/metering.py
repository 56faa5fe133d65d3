"""What is being metered now."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import DecimalField, F, Sum, Value

from apps.billing.arithmetic import exact_fen
from apps.billing.models import MeterSession

_RATE = Sum(
    F("price_version__rate_fen_per_hour") * F("replicas") * (Value(Decimal(1)) - F("discount_off")),
    output_field=DecimalField(max_digits=34, decimal_places=14),
)


def burn_by_organisation() -> dict[UUID, Decimal]:
    """Fen per hour that running sessions cost, for each organisation with any (free ones count as zero)."""
    rows = MeterSession.objects.filter(closed_at__isnull=True, settled=False)
    return dict(rows.values("organisation_id").annotate(burn=_RATE).values_list("organisation_id", "burn"))


def burn_fen_per_hour(organisation_id: UUID) -> Decimal:
    rows = MeterSession.objects.filter(organisation_id=organisation_id, closed_at__isnull=True, settled=False)
    return rows.aggregate(burn=_RATE)["burn"] or Decimal(0)


def session_fen(session: MeterSession) -> Decimal:
    """The exact price of all that is proven of a session."""
    return fen_until(session, session.proven_until)


def fen_until(session: MeterSession, at: datetime) -> Decimal:
    """The exact price of a session from its opening until then, its discount taken off."""
    price = session.price_version.rate_fen_per_hour
    return exact_fen(price, session.replicas, at - session.opened_at, session.discount_off)


def unrated_fen(workload_id: UUID) -> Decimal:
    """The exact price of what a workload has used and no rating has charged; never below zero."""
    total = Decimal(0)
    for session in MeterSession.objects.filter(workload_id=workload_id, settled=False).select_related("price_version"):
        total += session_fen(session) - fen_until(session, session.rated_until)
    return max(total, Decimal(0))
