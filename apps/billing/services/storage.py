"""What is kept costs by the GiB and hour: its price, and the meter of volumes and datasets.

Storage is a package of its own, so that its price has versions, charges, statements and vouchers as compute has. Each
thing that is kept has one open session; another size, price or discount closes it and opens the next at the same
instant, so that its time tiles. Without a price nothing is metered: storage is free until one is set.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID, uuid4

from django.db import transaction

from apps.billing.choices import ISOLATION_OF_MODE, Resource
from apps.billing.models import Discount, MeterSession, Package, PriceVersion
from apps.billing.selectors.discounts import discounts_at
from apps.billing.selectors.storage import storage_package, storage_price
from apps.billing.services.metering import close_meter, extend_meter, open_meter
from apps.billing.services.prices import set_price
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission

NAME_EN, NAME_ZH = "Storage", "存储"


@dataclass(frozen=True, slots=True)
class Stored:
    """Something that takes room: who keeps it, and how many GiB, rounded up."""

    thing_id: UUID
    organisation_id: UUID
    user_id: int
    label: str
    gib: int


@dataclass(frozen=True, slots=True)
class Terms:
    """What a thing's next session is opened with."""

    price: PriceVersion
    discount: Discount | None
    gib: int


def set_storage_price(
    actor: Actor, *, rate_fen_per_hour: Decimal, effective_from: datetime | None = None
) -> PriceVersion:
    """A new version of the price of one GiB for an hour, in fen; as `set_price`. Before the first, storage is free."""
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    with transaction.atomic():
        package = storage_package() or _offer_storage()
        return set_price(
            actor, package_id=package.pk, rate_fen_per_hour=rate_fen_per_hour, effective_from=effective_from
        )


def _offer_storage() -> Package:
    """Never on offer: nobody starts anything on it."""
    columns = {"name_zh": NAME_ZH, "isolation": ISOLATION_OF_MODE[""], "cpu_milli": 0, "memory_mib": 0}
    made: Package = Package.objects.get_or_create(
        resource=Resource.STORAGE, defaults={"name_en": NAME_EN, "active": False, **columns}
    )[0]
    return made


def meter_storage(things: Iterable[Stored], *, now: datetime | None = None) -> None:
    """Bring the meter up to what is kept now: `things` are all there are, on the whole platform.

    What is there is proven until now, for it was there all the time since its last proof; what is gone ends at its
    last proof. In the platform's scope.
    """
    now = now or db_now()
    kept = {thing.thing_id: thing for thing in things if thing.gib > 0}
    price = storage_price(now)
    rows = MeterSession.objects.filter(resource=Resource.STORAGE, closed_at__isnull=True)
    open_sessions = {row.workload_id: row for row in rows.select_related("price_version", "discount")}
    discounts = discounts_at(now)
    for thing_id, session in open_sessions.items():
        if thing_id not in kept:
            close_meter(session_id=session.pk, at=session.proven_until)
    if price is None:  # none was ever set: a price that was has no end but the next one's beginning
        return
    unchanged = _turn_over(kept, open_sessions, price, discounts, now)
    MeterSession.objects.filter(pk__in=unchanged, closed_at__isnull=True, proven_until__lt=now).update(proven_until=now)
    for thing in kept.values():
        if thing.thing_id not in open_sessions:
            _open(thing, price, now)


def _turn_over(
    kept: Mapping[UUID, Stored],
    sessions: Mapping[UUID, MeterSession],
    price: PriceVersion,
    discounts: Mapping[UUID, Discount],
    now: datetime,
) -> Sequence[UUID]:
    """Close and open again what has other terms now; the sessions that go on as they are."""
    unchanged = []
    for thing_id, session in sessions.items():
        thing = kept.get(thing_id)
        if thing is None:
            continue
        at = _changed_at(session, Terms(price, discounts.get(session.organisation_id), thing.gib), now)
        if at is None:
            unchanged.append(session.pk)
            continue
        with transaction.atomic():
            extend_meter(session_id=session.pk, proven_until=at)
            close_meter(session_id=session.pk, at=at)
            _open(thing, price, at)
    return unchanged


def _changed_at(session: MeterSession, terms: Terms, now: datetime) -> datetime | None:
    """The instant from which other terms hold; None while they are the same. A size is known when it is seen."""
    instants = []
    if session.price_version_id != terms.price.pk:
        instants.append(terms.price.effective_from)
    former = session.discount if session.discount_id else None
    if (former.pk if former else None) != (terms.discount.pk if terms.discount else None):
        ended = former.effective_to if former else None
        instants.append(terms.discount.effective_from if terms.discount else ended or now)
    if session.replicas != terms.gib:
        instants.append(now)
    return min(max(*instants, session.opened_at), now) if instants else None


def _open(thing: Stored, price: PriceVersion, at: datetime) -> None:
    open_meter(
        session_id=uuid4(),
        organisation_id=thing.organisation_id,
        user_id=thing.user_id,
        workload_id=thing.thing_id,
        label=thing.label,
        price_version_id=price.pk,
        at=at,
        replicas=thing.gib,
        resource=Resource.STORAGE,
    )
