"""What is being metered now."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import DecimalField, F, Q, QuerySet, Sum, Value

from apps.billing.arithmetic import exact_fen, net_rate
from apps.billing.choices import Resource
from apps.billing.covering import NOTHING, Covering
from apps.billing.metering.covering import covered_now, covering_of, organisations_with_covers, pieces
from apps.billing.models import MeterSession
from apps.common.clock import once_a_moment
from apps.common.prepared import prepared_in_scope

_RATE = Sum(
    F("price_version__rate_fen_per_hour") * F("replicas") * (Value(Decimal(1)) - F("discount_off")),
    output_field=DecimalField(max_digits=34, decimal_places=14),
)


def burn_by_organisation() -> dict[UUID, Decimal]:
    """Fen per hour that running sessions cost, for each organisation with any (free ones count as zero)."""
    rows = MeterSession.objects.filter(closed_at__isnull=True, settled=False)
    burns = dict(rows.values("organisation_id").annotate(burn=_RATE).values_list("organisation_id", "burn"))
    for organisation_id in organisations_with_covers() & burns.keys():
        burns[organisation_id] -= _covered_rate(organisation_id)
    return burns


@once_a_moment
def burn_fen_per_hour(organisation_id: UUID) -> Decimal:
    burn = next(iter(_burn(organisation_id=organisation_id)), Decimal(0))
    return burn - _covered_rate(organisation_id) if burn else burn


@prepared_in_scope
def _burn(*, organisation_id: UUID) -> QuerySet[MeterSession, Decimal]:
    """One row, or none."""
    rows = MeterSession.objects.filter(organisation_id=organisation_id, closed_at__isnull=True, settled=False)
    return rows.order_by().values("organisation_id").annotate(burn=_RATE).values_list("burn", flat=True)


@once_a_moment
def storage_fen_per_hour(organisation_id: UUID) -> Decimal:
    """The part of `burn_fen_per_hour` that stored data costs."""
    rows = MeterSession.objects.filter(
        organisation_id=organisation_id, resource=Resource.STORAGE, closed_at__isnull=True, settled=False
    )
    return rows.aggregate(burn=_RATE)["burn"] or Decimal(0)


def _covered_rate(organisation_id: UUID) -> Decimal:
    """What the replicas that prepaid orders cover would cost by the hour."""
    covered = covered_now(organisation_id)
    if not covered:
        return Decimal(0)
    sessions = MeterSession.objects.filter(pk__in=covered).select_related("price_version")
    rates = [net_rate(each.price_version.rate_fen_per_hour, each.discount_off) * covered[each.pk] for each in sessions]
    return sum(rates, Decimal(0))


def rates_of(organisation_id: UUID, sessions: Iterable[MeterSession]) -> dict[UUID, Decimal]:
    """By session of the organisation that is open, fen per hour at its net price without covered replicas."""
    covered = covered_now(organisation_id)
    return {
        each.pk: net_rate(each.price_version.rate_fen_per_hour, each.discount_off)
        * (each.replicas - covered.get(each.pk, 0))
        for each in sessions
        if each.closed_at is None
    }


def fen_between(session: MeterSession, start: datetime, end: datetime, *, covered: int = 0) -> Decimal:
    """The exact price of [start, end) of a session, its discount taken off; `covered` replicas cost nothing.

    It is a difference of prices since the opening, so that pieces with the same cover add up however they are cut.
    """
    return _fen_until(session, end, covered) - _fen_until(session, start, covered)


def _fen_until(session: MeterSession, at: datetime, covered: int) -> Decimal:
    price = session.price_version.rate_fen_per_hour
    return exact_fen(price, session.replicas - covered, at - session.opened_at, session.discount_off)


def unrated_of(sessions: Iterable[MeterSession]) -> dict[UUID, Decimal]:
    """By session, the exact price of what is proven and not rated; below zero if an end became known late.

    Computed as the next rating will do it: time that prepaid orders cover costs nothing.
    """
    found: dict[UUID, list[MeterSession]] = defaultdict(list)
    for session in sessions:
        found[session.organisation_id].append(session)
    if not found:
        return {}
    since = min(min(each.rated_until, each.proven_until) for group in found.values() for each in group)
    covered = organisations_with_covers(since=since)
    coverings = {who: covering_of(who, since=since) for who in found.keys() & covered}
    return {each.pk: _unrated(each, coverings.get(who, NOTHING)) for who, group in found.items() for each in group}


def _unrated(session: MeterSession, covering: Covering) -> Decimal:
    start, end = sorted((session.rated_until, session.proven_until))
    spans = pieces(covering, session, start, end)
    fen = sum((fen_between(session, begin, stop, covered=covered) for begin, stop, covered in spans), Decimal(0))
    return fen if session.proven_until >= session.rated_until else -fen


def sessions_of(capped_id: UUID) -> QuerySet[MeterSession]:
    """Of a workload, or of all replicas of a set: what one cap may be on. With their price versions."""
    rows: QuerySet[MeterSession] = MeterSession.objects.filter(Q(workload_id=capped_id) | Q(set_id=capped_id))
    return rows.select_related("price_version")


def unrated_fen(capped_id: UUID) -> Decimal:
    """The exact price of what a workload, or a set, has used and no rating has charged; never below zero."""
    rows = sessions_of(capped_id).filter(settled=False)
    return max(sum(unrated_of(rows).values(), Decimal(0)), Decimal(0))
