"""Storage is charged by the GiB and hour: its price, and the meter of volumes and datasets.

Storage is a package of its own, so that its price has versions, charges, statements and vouchers as compute has. Each
stored item has one open session; a change of size, price or discount closes it and opens the next at the same instant,
so that sessions tile its time. Without a price nothing is metered: storage is free until one is set.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID, uuid4

from django.db import transaction

from apps.billing.choices import ISOLATION_OF_MODE, Resource
from apps.billing.metering.services import close_meter, extend_meter, open_meter
from apps.billing.models import MeterSession, Package, PriceVersion
from apps.billing.prices.versions import Priced, set_price
from apps.billing.storage.selectors import StorageTerms, storage_package, storage_terms
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission

NAME_EN, NAME_ZH = "Storage", "存储"


@dataclass(frozen=True, slots=True)
class StoredItem:
    """Something that takes space: who keeps it, and how many GiB, rounded up."""

    thing_id: UUID
    organisation_id: UUID
    user_id: int
    label: str
    gib: int


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms with which an item's next session is opened."""

    price: PriceVersion
    gib: int


class _Held(NamedTuple):
    """The terms of a session, for comparison with others."""

    price_id: int
    discount_id: int | None
    gib: int


def set_storage_price(
    actor: Actor, *, rate_fen_per_hour: Decimal, effective_from: datetime | None = None
) -> Priced[PriceVersion]:
    """A new version of the price of one GiB for an hour, in fen; as `set_price`. Before the first, storage is free."""
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    with transaction.atomic():
        package = storage_package() or _offer_storage()
        return set_price(
            actor, package_id=package.pk, rate_fen_per_hour=rate_fen_per_hour, effective_from=effective_from
        )


def _offer_storage() -> Package:
    """The storage package, created if missing; never on offer, because nobody starts anything on it."""
    columns = {"name_zh": NAME_ZH, "isolation": ISOLATION_OF_MODE[""], "cpu_milli": 0, "memory_mib": 0}
    made: Package = Package.objects.get_or_create(
        resource=Resource.STORAGE, defaults={"name_en": NAME_EN, "active": False, **columns}
    )[0]
    return made


def meter_storage(items: Iterable[StoredItem], *, now: datetime | None = None) -> None:
    """Update the meter to what is stored now: `items` are all of the whole platform.

    What exists now has existed since its last proof, so it is proven until now; what is gone ends at its last proof.
    Call it in the platform's scope.
    """
    now = now or db_now()
    kept = {thing.thing_id: thing for thing in items if thing.gib > 0}
    rows = MeterSession.objects.filter(resource=Resource.STORAGE, closed_at__isnull=True)
    open_sessions = {row.workload_id: row for row in rows}
    terms = storage_terms()
    for thing_id, session in open_sessions.items():
        if thing_id not in kept:
            close_meter(session_id=session.pk, at=session.proven_until)
    price = terms.price_at(now)
    if price is None:  # none was ever set: a price ends only when the next one begins
        return
    unchanged = _turn_over(kept, open_sessions, terms, now)
    MeterSession.objects.filter(pk__in=unchanged, closed_at__isnull=True, proven_until__lt=now).update(proven_until=now)
    for thing in kept.values():
        if thing.thing_id not in open_sessions:
            _open(thing, Terms(price, thing.gib), now)


def _turn_over(
    kept: Mapping[UUID, StoredItem], sessions: Mapping[UUID, MeterSession], terms: StorageTerms, now: datetime
) -> Sequence[UUID]:
    """Close and reopen sessions whose terms have changed since they were seen; returns those that go on unchanged."""
    unchanged = []
    for thing_id, session in sessions.items():
        thing = kept.get(thing_id)
        if thing is None:
            continue
        changes = list(_changes(session, thing, terms, now))
        if not changes:
            unchanged.append(session.pk)
            continue
        with transaction.atomic():
            pk = session.pk
            for at, begun in changes:
                extend_meter(session_id=pk, proven_until=at)
                close_meter(session_id=pk, at=at)
                pk = _open(thing, begun, at)
            extend_meter(session_id=pk, proven_until=now)
    return unchanged


def _changes(
    session: MeterSession, item: StoredItem, terms: StorageTerms, now: datetime
) -> Iterator[tuple[datetime, Terms]]:
    """Each moment since the session was opened from which other terms held. A size is known when it is seen, now."""
    held = _Held(session.price_version_id, session.discount_id, session.replicas)
    edges = terms.edges(session.organisation_id, session.opened_at, now)
    for at in dict.fromkeys((session.opened_at, *edges, now)):
        gib = item.gib if at == now else session.replicas
        price, discount = terms.price_at(at), terms.discount_at(session.organisation_id, at)
        if price is None:
            continue
        found = _Held(price.pk, discount.pk if discount else None, gib)
        if found != held:
            held = found
            yield at, Terms(price, gib)


def _open(item: StoredItem, terms: Terms, at: datetime) -> UUID:
    """The session's id. Its discount is the one of that moment."""
    pk = uuid4()
    open_meter(
        session_id=pk,
        organisation_id=item.organisation_id,
        user_id=item.user_id,
        workload_id=item.thing_id,
        label=item.label,
        price_version_id=terms.price.pk,
        at=at,
        replicas=terms.gib,
        resource=Resource.STORAGE,
    )
    return pk
