"""What is kept is metered by the GiB: sizes, prices and discounts tile, and what is gone costs nothing more."""

from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Sum
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.billing import selectors, services
from apps.billing.choices import Resource
from apps.billing.models import Charge, MeterSession, Package, PriceVersion, UsageSlice
from apps.billing.prices.discounts.services import set_discount
from apps.billing.storage.selectors import storage_price, storage_price_history
from apps.billing.storage.services import StoredItem, meter_storage, set_storage_price
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Denied
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, balance, make_voucher, top_up
from tests.searching import examples

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


@pytest.fixture
def price(platform: Actor) -> PriceVersion:
    """One fen per GiB and hour."""
    return set_storage_price(PLATFORM, rate_fen_per_hour=Decimal(1)).version


class Shelf:
    """One volume as the storage's own rows would tell of it."""

    def __init__(self, owner: Actor) -> None:
        self.owner, self.id = owner, uuid4()

    def seen(self, at: datetime, gib: int) -> None:
        things = [StoredItem(self.id, self.owner.organisation(), self.owner.user_id or 0, "shelf", gib)] if gib else []
        meter_storage(things, now=at)


def rate(until: datetime) -> None:
    services.rate_due(PLATFORM, until=until)
    assert selectors.unbalanced_runs() == []


def gib_seconds(thing: UUID) -> Decimal:
    rows = Charge.objects.filter(session__workload_id=thing)
    return sum((row.seconds * row.replicas for row in rows), Decimal(0))


def test_without_a_price_nothing_is_metered(alice: Actor) -> None:
    Shelf(alice).seen(db_now(), 10)
    assert not MeterSession.objects.exists()


def test_a_volume_costs_its_size_by_the_hour(lab: Organisation, alice: Actor, price: PriceVersion) -> None:
    top_up(lab, 10_000)
    start, shelf = db_now() + MINUTE, Shelf(alice)
    shelf.seen(start, 100)
    shelf.seen(start + 2 * HOUR, 100)
    shelf.seen(start + 3 * HOUR, 0)  # gone; it was last seen an hour ago
    rate(start + 4 * HOUR)
    assert balance(lab) == 10_000 - 200
    session = MeterSession.objects.get()
    assert (session.replicas, session.closed_at) == (100, start + 2 * HOUR)
    assert session.resource == Resource.STORAGE


def test_a_resize_closes_and_opens_at_one_instant(lab: Organisation, alice: Actor, price: PriceVersion) -> None:
    top_up(lab, 10_000)
    start, shelf = db_now() + MINUTE, Shelf(alice)
    shelf.seen(start, 10)
    shelf.seen(start + HOUR, 30)
    shelf.seen(start + 2 * HOUR, 30)
    shelf.seen(start + 2 * HOUR, 0)
    rate(start + 3 * HOUR)
    assert balance(lab) == 10_000 - 40
    first, second = MeterSession.objects.order_by("opened_at")
    assert first.closed_at == second.opened_at == start + HOUR


def test_a_new_price_holds_from_its_instant_not_from_when_it_is_seen(
    lab: Organisation, alice: Actor, price: PriceVersion
) -> None:
    top_up(lab, 10_000)
    start, shelf = price.effective_from, Shelf(alice)
    begins = db_now() + HOUR
    shelf.seen(start, 60)
    set_storage_price(PLATFORM, rate_fen_per_hour=Decimal(5), effective_from=begins)
    shelf.seen(begins + MINUTE, 60)
    old, new = MeterSession.objects.order_by("opened_at")
    assert old.closed_at == new.opened_at == begins
    assert new.price_version.rate_fen_per_hour == 5
    assert storage_price(begins) == new.price_version
    assert storage_price_history(PLATFORM).count() == 2


def test_a_new_discount_too(lab: Organisation, alice: Actor, price: PriceVersion) -> None:
    start, shelf = db_now(), Shelf(alice)
    shelf.seen(start, 60)
    discount = set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.5"))
    shelf.seen(db_now() + MINUTE, 60)
    old, new = MeterSession.objects.order_by("opened_at")
    assert old.closed_at == new.opened_at == discount.effective_from
    assert (old.discount_off, new.discount_off) == (Decimal(0), Decimal("0.5"))


def test_all_that_changes_between_two_looks_holds_from_its_own_instant(
    lab: Organisation, alice: Actor, price: PriceVersion
) -> None:
    """Nobody looked for five hours: the price rose twice, a discount came and went, and the size is another one."""
    start, shelf = db_now() + HOUR, Shelf(alice)
    shelf.seen(start, 100)
    for hours, rate in ((1, 2), (4, 5)):
        set_storage_price(PLATFORM, rate_fen_per_hour=Decimal(rate), effective_from=start + hours * HOUR)
    spell = {"effective_from": start + 2 * HOUR, "effective_to": start + 3 * HOUR}
    set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.5"), **spell)  # type: ignore[arg-type]
    shelf.seen(start + 5 * HOUR, 7)
    rows = MeterSession.objects.order_by("opened_at").select_related("price_version")
    found = [(int(row.price_version.rate_fen_per_hour), row.discount_off, row.replicas) for row in rows]
    half, none = Decimal("0.5"), Decimal(0)
    assert found == [(1, none, 100), (2, none, 100), (2, half, 100), (2, none, 100), (5, none, 100), (5, none, 7)]
    assert [row.opened_at for row in rows] == [start + hours * HOUR for hours in range(6)]
    assert [row.closed_at for row in rows] == [*(row.opened_at for row in rows[1:]), None]


def test_seeing_it_again_changes_nothing(alice: Actor, price: PriceVersion) -> None:
    start, shelf = db_now(), Shelf(alice)
    for _ in range(3):
        shelf.seen(start + MINUTE, 7)
    assert MeterSession.objects.count() == 1


def test_a_thing_has_one_open_session(alice: Actor, price: PriceVersion) -> None:
    shelf = Shelf(alice)
    shelf.seen(db_now(), 7)
    twin = MeterSession.objects.get()
    twin.pk = uuid4()
    with pytest.raises(IntegrityError, match="session_one_open_of_storage"), transaction.atomic():
        twin.save(force_insert=True)


def test_a_voucher_for_storage_pays_it(lab: Organisation, alice: Actor, price: PriceVersion) -> None:
    now = db_now()
    hour = now.replace(minute=0, second=0, microsecond=0)
    given = make_voucher(lab, 1_000, "storage", valid_from=hour - HOUR, valid_until=hour + 48 * HOUR)
    shelf = Shelf(alice)
    shelf.seen(now, 100)
    shelf.seen(now + HOUR, 100)
    rate(now + 2 * HOUR)
    given.refresh_from_db()
    assert given.left_fen == 900
    assert balance(lab) == 0


def test_storage_is_no_package_that_anybody_starts_on(alice: Actor, price: PriceVersion) -> None:
    assert Package.objects.get().resource == Resource.STORAGE
    assert not selectors.packages(alice).exists()
    assert not selectors.packages(PLATFORM, active_only=False).exists()


def test_only_who_manages_prices_sets_it(alice: Actor) -> None:
    with pytest.raises(Denied):
        set_storage_price(alice, rate_fen_per_hour=Decimal(1))


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(1, 90), st.integers(1, 6)), min_size=1, max_size=8))
def test_whatever_the_sizes_the_time_tiles(
    lab: Organisation, alice: Actor, price: PriceVersion, steps: list[tuple[int, int]]
) -> None:
    """`steps`: minutes until it is seen again, and the size that is seen then."""
    start, shelf = db_now() + MINUTE, Shelf(alice)
    at, size, expected = start, 3, Decimal(0)
    shelf.seen(at, size)
    for minutes, seen in steps:
        at += minutes * MINUTE
        expected += minutes * 60 * size
        size = seen
        shelf.seen(at, size)
    shelf.seen(at, 0)
    rate(at + HOUR)
    assert gib_seconds(shelf.id) == expected
    slices = UsageSlice.objects.filter(session__workload_id=shelf.id)
    edges = sorted(slices.values_list("start", "end"))
    assert [end for _, end in edges[:-1]] == [begin for begin, _ in edges[1:]]
    exact = Charge.objects.filter(session__workload_id=shelf.id).aggregate(fen=Sum("exact_fen"))["fen"]
    assert abs(exact - expected / 3600) < Decimal("1e-8")
