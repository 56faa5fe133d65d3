"""Read what prepaid orders cover, once for an organisation and a span of time; `covering` decides."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Min, Q, QuerySet, Sum

from apps.billing import policy
from apps.billing.choices import HoldReason
from apps.billing.covering import NOTHING, Cover, Covering, Occupant
from apps.billing.models import Hold, MeterSession, PrepaidOrder, PrepaidSeat, PrepaidStop
from apps.common.clock import db_now, once_a_moment


def covering_of(organisation_id: UUID, *, since: datetime) -> Covering:
    """The orders that cover any time from `since` on and every session that may take their places.

    Organisations without such an order, which are most, cost one query. A session opened before `since` counts unless
    it was closed by then.
    """
    orders = PrepaidOrder.objects.filter(organisation_id=organisation_id, covers_until__gt=since).order_by()
    columns = orders.values_list("package_id", "starts_at", "covers_until", "quantity")
    covers = [Cover(*row) for row in columns if row[1] < row[2]]
    if not covers:
        return NOTHING
    sessions = MeterSession.objects.filter(
        Q(closed_at__isnull=True) | Q(closed_at__gt=since),
        organisation_id=organisation_id,
        price_version__package_id__in={each.package_id for each in covers},
    )
    occupants = [occupant(each) for each in sessions.select_related("price_version")]
    return Covering(covers, occupants, db_now() - policy.SILENT_LEAVES)


def occupant(session: MeterSession) -> Occupant:
    """`session` with its price version."""
    proven = session.proven_until if session.closed_at is None else None
    package_id = session.price_version.package_id
    return Occupant(session.pk, package_id, session.opened_at, session.closed_at, session.replicas, proven)


def pieces(
    covering: Covering, session: MeterSession, start: datetime, end: datetime
) -> Iterator[tuple[datetime, datetime, int]]:
    """[start, end) of a session in pieces, each with the replicas that are covered throughout it."""
    return covering.pieces(occupant(session), start, end)


def open_sessions(organisation_id: UUID, package_id: int) -> QuerySet[MeterSession]:
    """Sessions on a package that are open now."""
    rows: QuerySet[MeterSession] = MeterSession.objects.filter(
        organisation_id=organisation_id, closed_at__isnull=True, price_version__package_id=package_id
    )
    return rows.select_related("price_version")


@once_a_moment
def organisations_with_covers(*, since: datetime | None = None) -> set[UUID]:
    """Those with a prepaid order in force now, or that has covered any time since then."""
    now = db_now()
    rows = PrepaidOrder.objects.filter(starts_at__lte=now, covers_until__gt=since or now).order_by()
    return set(rows.values_list("organisation_id", flat=True).distinct())


def covered_now(organisation_id: UUID) -> dict[UUID, int]:
    """Covered replicas of each open session that has any."""
    now = db_now()
    covering = covering_of(organisation_id, since=now)
    found = {each.session_id: covering.at(each, now) for each in covering.occupants if each.closed is None}
    return {session_id: count for session_id, count in found.items() if count}


def free_places(organisation_id: UUID, package_id: int) -> int:
    """Replicas that could start now and be covered: all places minus those taken by running work or promised."""
    now = db_now()
    orders = PrepaidOrder.objects.filter(
        organisation_id=organisation_id, package_id=package_id, starts_at__lte=now, covers_until__gt=now
    )
    places = orders.aggregate(sum=Sum("quantity"))["sum"] or 0
    if not places:
        return 0
    open_now = open_sessions(organisation_id, package_id)
    taken = open_now.aggregate(sum=Sum("replicas"))["sum"] or 0
    promised = _promised(organisation_id, package_id).exclude(workload_id__in=open_now.values("workload_id"))
    return max(0, places - taken - (promised.aggregate(sum=Sum("replicas"))["sum"] or 0))


def prepaid_until(organisation_id: UUID, package_id: int, replicas: int) -> datetime | None:
    """Until when a start of so many replicas would be covered at least, grace not counted; None: it would not be."""
    if free_places(organisation_id, package_id) < replicas:
        return None
    now = db_now()
    orders = PrepaidOrder.objects.filter(
        organisation_id=organisation_id, package_id=package_id, starts_at__lte=now, covers_until__gt=now
    )
    soonest: datetime | None = orders.aggregate(end=Min("ends_at"))["end"]
    return soonest


def covered_workloads(organisation_ids: Iterable[UUID]) -> set[UUID]:
    """Workloads of these organisations that a prepaid order covers entirely now or has promised a place."""
    found: set[UUID] = set()
    for organisation_id in organisations_with_covers() & set(organisation_ids):
        covered = covered_now(organisation_id)
        for session in MeterSession.objects.filter(pk__in=covered):
            if covered[session.pk] == session.replicas:
                found.add(session.workload_id)
        found |= _waiting(organisation_id)
    return found


def prepaid_stops() -> set[UUID]:
    """Workloads to save and stop because their prepaid time ended and nothing else covers them."""
    lately = PrepaidStop.objects.filter(at__gt=db_now() - timedelta(days=1))
    due = dict(lately.values_list("workload_id", "organisation_id"))
    return set(due) - covered_workloads(due.values())


def _waiting(organisation_id: UUID) -> set[UUID]:
    """Workloads with a promised place that do not run yet, where the order that promised it is still in force."""
    now = db_now()
    orders = PrepaidOrder.objects.filter(organisation_id=organisation_id, starts_at__lte=now, covers_until__gt=now)
    found: set[UUID] = set()
    for package_id in set(orders.values_list("package_id", flat=True)):
        open_now = open_sessions(organisation_id, package_id).values("workload_id")
        rows = _promised(organisation_id, package_id).exclude(workload_id__in=open_now)
        found |= set(rows.values_list("workload_id", flat=True))
    return found


def _promised(organisation_id: UUID, package_id: int) -> QuerySet[PrepaidSeat]:
    """Seats of workloads whose hold is still the one that stands for the prepayment."""
    holds = Hold.objects.filter(organisation_id=organisation_id, reason=HoldReason.PREPAID, end__isnull=True)
    rows: QuerySet[PrepaidSeat] = PrepaidSeat.objects.filter(organisation_id=organisation_id, package_id=package_id)
    return rows.filter(workload_id__in=holds.values("workload_id"))
