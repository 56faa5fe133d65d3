"""Prepaid orders of one workload: those that cover it now, and what paying ahead for its package would cost."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.billing.caps.selectors import open_session
from apps.billing.choices import HoldReason, Term
from apps.billing.metering.covering import covering_of, occupant
from apps.billing.models import Hold, MeterSession, PrepaidOrder, PrepaidSeat, TermPrice
from apps.billing.prepaid.selectors import offers
from apps.billing.prices.own import own_terms
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission


@dataclass(frozen=True, slots=True)
class Seat:
    """`replicas` of `of` are covered by orders of the package, soonest end first; the first holds at least `until`.

    Paid until then; with its grace, where that is over.
    """

    replicas: int
    of: int
    orders: tuple[PrepaidOrder, ...]
    until: datetime

    @property
    def is_whole(self) -> bool:
        return self.replicas == self.of


def seat_of(workload_id: UUID) -> Seat | None:
    """What covers a workload now, running or with a promised place. The caller has checked that the actor may see it.

    None for most, after one query or two.
    """
    session, now = open_session(workload_id), db_now()
    if session is None:
        return _promised(workload_id, now)
    covering = covering_of(session.organisation_id, since=now)
    replicas = covering.at(occupant(session), now)
    if not replicas:
        return None
    return _seat(session.organisation_id, session.price_version.package_id, (replicas, session.replicas), now)


def _promised(workload_id: UUID, now: datetime) -> Seat | None:
    """The seat of work that has not started yet: it keeps its place while its hold is open."""
    seat = PrepaidSeat.objects.filter(workload_id=workload_id).first()
    if seat is None or MeterSession.objects.filter(workload_id=workload_id).exists():
        return None
    if not Hold.objects.filter(workload_id=workload_id, reason=HoldReason.PREPAID, end__isnull=True).exists():
        return None
    return _seat(seat.organisation_id, seat.package_id, (seat.replicas, seat.replicas), now)


def _seat(organisation_id: UUID, package_id: int, replicas: tuple[int, int], now: datetime) -> Seat | None:
    rows = PrepaidOrder.objects.filter(
        organisation_id=organisation_id, package_id=package_id, starts_at__lte=now, covers_until__gt=now
    )
    orders = tuple(rows.select_related("package").order_by("ends_at", "pk"))
    if not orders:
        return None
    first = orders[0]
    return Seat(*replicas, orders, first.ends_at if first.ends_at > now else first.covers_until)


@dataclass(frozen=True, slots=True)
class PayAhead:
    """A price by the period, and the fen that the organisation would pay for one."""

    offer: TermPrice
    fen: int


def pay_ahead(actor: Actor, package_id: int) -> PayAhead | None:
    """By the month if offered, else by the shortest term; None if the actor may not buy or there is none."""
    if not actor.may(Permission.BILLING_PREPAY):
        return None
    found = {Term(offer.term): offer for offer in offers(actor).filter(package_id=package_id)}
    offer = next((found[term] for term in (Term.MONTH, Term.DAY, Term.YEAR) if term in found), None)
    if offer is None:
        return None
    own = own_terms(actor)
    return None if own.all_free else PayAhead(offer, own.paid_ahead(offer.price_fen))
