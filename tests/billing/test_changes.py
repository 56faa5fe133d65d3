"""Prices and discounts that two people decide on, and what a change does, shown before it is made."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from unittest.mock import patch

import pytest

from apps.audit.models import Entry
from apps.billing import services
from apps.billing.changes import services as changes
from apps.billing.changes.effects import discount_effect, package_effect, storage_effect, unit_effect
from apps.billing.changes.price_proposals import ListedPrice, PackagePrice, PeriodPrice, StoragePrice
from apps.billing.changes.proposals import NewDiscount
from apps.billing.choices import Term, UnitItem
from apps.billing.models import ChangeRequest, Discount, Package, PriceVersion
from apps.billing.prices.discounts.services import set_discount
from apps.billing.prices.pricelist import Unit
from apps.billing.storage.services import StoredItem, meter_storage, set_storage_price
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, DomainError, Invalid
from apps.common.scoping import acting
from apps.tenants.models import Organisation
from tests.billing.builders import PLATFORM, Run, make_member, make_organisation, make_package, make_staff, price_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def scope(db: None) -> Iterator[None]:
    with acting(PLATFORM):
        yield


@pytest.fixture
def clerk() -> Actor:
    return make_staff()


@pytest.fixture
def second() -> Actor:
    return make_staff()


@pytest.fixture
def package() -> Package:
    return make_package(1000)


@pytest.fixture
def lab() -> Organisation:
    return make_organisation("Lab East")


def rate(package: Package) -> Decimal:
    return PriceVersion.objects.get(package=package, effective_to__isnull=True).rate_fen_per_hour


def ask(clerk: Actor, package: Package, fen: int | str) -> ChangeRequest | None:
    return changes.submit(clerk, PackagePrice(package.pk, Decimal(fen))).request


def test_a_price_lowered_by_more_than_one_person_may_waits(clerk: Actor, second: Actor, package: Package) -> None:
    assert ask(clerk, package, 800) is None  # 20 per cent
    request = ask(clerk, package, 799)
    assert request is not None
    assert rate(package) == 800
    changes.approve(second, request_id=request.pk)
    assert rate(package) == 799
    kept = Entry.objects.filter(target_type="change").order_by("pk")
    assert [entry.action for entry in kept] == ["billing.change.asked", "billing.change.approved"]
    assert kept[0].before["rate_fen_per_hour"] == "800.0000000000"


def test_many_small_steps_count_as_the_large_one(clerk: Actor, package: Package) -> None:
    assert ask(clerk, package, 900) is None
    assert ask(clerk, package, 810) is None
    assert ask(clerk, package, 790) is not None  # 2.5 per cent of 810, 21 of what it was


def test_after_two_have_agreed_steps_are_counted_anew(clerk: Actor, second: Actor, package: Package) -> None:
    request = ask(clerk, package, 500)
    assert request is not None
    changes.approve(second, request_id=request.pk)
    assert ask(clerk, package, 400) is None
    assert ask(clerk, package, 399) is not None


def test_raising_a_price_takes_one(clerk: Actor, package: Package) -> None:
    assert ask(clerk, package, 5000) is None
    assert rate(package) == 5000


def test_what_cannot_be_is_refused_before_anybody_is_asked(clerk: Actor, package: Package) -> None:
    past = db_now() - timedelta(hours=1)
    with pytest.raises(Invalid):
        changes.submit(clerk, PackagePrice(package.pk, Decimal(1), past))
    assert not ChangeRequest.objects.exists()
    assert rate(package) == 1000


def test_one_change_of_a_thing_waits_at_a_time(clerk: Actor, second: Actor, package: Package) -> None:
    request = ask(clerk, package, 1)
    with pytest.raises(Conflict):
        ask(clerk, package, 2)
    assert request is not None
    changes.withdraw(clerk, request_id=request.pk)
    assert ask(clerk, package, 2) is not None


def test_a_beginning_that_passed_while_it_waited_is_the_approval(clerk: Actor, second: Actor, package: Package) -> None:
    begins = db_now() + timedelta(hours=1)
    request = changes.submit(clerk, PackagePrice(package.pk, Decimal(1), begins)).request
    assert request is not None
    with patch("apps.billing.changes.proposals.db_now", lambda: begins + timedelta(seconds=1)):
        changes.approve(second, request_id=request.pk)
    assert rate(package) == 1


def test_a_new_package_far_below_comparable_ones_has_no_price_before_the_second(clerk: Actor, package: Package) -> None:
    spec = services.PackageSpec(name_en="Gift", name_zh="礼", cpu_milli=2000, memory_mib=4096)
    made, outcome = changes.offer_package(clerk, spec=spec, rate_fen_per_hour=Decimal(1))
    assert outcome.request is not None
    assert not made.prices.exists()
    more = services.PackageSpec(package.name_en, package.name_zh, cpu_milli=64_000, memory_mib=64_000)
    other = make_package(9000)
    Package.objects.filter(pk=other.pk).update(cpu_milli=8000, memory_mib=8192)
    with pytest.raises(Conflict):
        changes.change_package(clerk, package_id=package.pk, spec=more)
    package.refresh_from_db()
    assert package.cpu_milli == 1000


def test_following_a_list_that_is_far_lower_is_no_way_round(clerk: Actor, package: Package) -> None:
    for item in (UnitItem.CPU, UnitItem.MEMORY):
        services.set_unit_price(clerk, unit=Unit(item), rate_fen_per_hour=Decimal(1))
    with pytest.raises(Conflict):
        changes.follow_list(clerk, package_id=package.pk, follows=True)
    package.refresh_from_db()
    assert not package.follows_list
    assert rate(package) == 1000


def test_a_price_by_the_period_far_below_the_hours_waits(clerk: Actor, second: Actor, package: Package) -> None:
    assert changes.submit(clerk, PeriodPrice(package.pk, Term.DAY, 20_000)).request is None  # 24 × 1000 less 17 %
    request = changes.submit(clerk, PeriodPrice(package.pk, Term.MONTH, 100)).request
    assert request is not None
    changes.approve(second, request_id=request.pk)


def test_a_large_discount_waits_and_shrinking_it_does_not(clerk: Actor, second: Actor, lab: Organisation) -> None:
    assert changes.submit(clerk, NewDiscount(lab.pk, Decimal("0.2"))).request is None
    request = changes.submit(clerk, NewDiscount(lab.pk, Decimal("0.85"), note="x")).request
    assert request is not None
    assert Discount.objects.get(effective_to__isnull=True).off == Decimal("0.2")
    changes.approve(second, request_id=request.pk)
    assert Discount.objects.get(effective_to__isnull=True).off == Decimal("0.85")
    assert changes.submit(clerk, NewDiscount(lab.pk, Decimal("0.5"))).request is None


def used(lab: Organisation, package: Package, hours: int = 3) -> Run:
    """Ran for some hours yesterday, and runs now."""
    alice = make_member(lab)
    opened = db_now() - timedelta(days=1)
    run = Run(alice, price_of(package), opened=opened)
    run.open().seen(timedelta(hours=hours)).close(timedelta(hours=hours))
    services.rate_organisation(PLATFORM, organisation_id=lab.pk, until=db_now())
    return Run(alice, price_of(package), opened=db_now()).open()


def test_the_effect_of_a_price_is_by_use_and_by_what_runs(clerk: Actor, lab: Organisation, package: Package) -> None:
    used(lab, package)
    found = package_effect(clerk, PackagePrice(package.pk, Decimal(900)))
    assert (found.old, found.new, found.organisations, found.running) == (Decimal(1000), Decimal(900), 1, 1)
    assert (found.used_fen, found.now_fen) == (-300, -72_000)
    assert [each.name for each in found.top] == ["Lab East"]
    assert found.keeps


def test_the_effect_of_a_discount_counts_what_it_pays_now(clerk: Actor, lab: Organisation, package: Package) -> None:
    set_discount(PLATFORM, organisation_id=lab.pk, off=Decimal("0.1"))
    used(lab, package)
    found = discount_effect(clerk, NewDiscount(lab.pk, Decimal("0.15")))
    assert (found.used_fen, found.now_fen, found.running) == (-150, -36_000, 1)
    assert [(step.old, step.new) for step in found.steps] == [(Decimal(900), Decimal(850))]


def test_the_effect_of_the_storage_price_is_on_all_that_is_stored(clerk: Actor, lab: Organisation) -> None:
    set_storage_price(PLATFORM, rate_fen_per_hour=Decimal(1))
    alice = make_member(lab)
    meter_storage([StoredItem(lab.pk, lab.pk, alice.user_id or 0, "data", 5)])
    found = storage_effect(clerk, StoragePrice(Decimal(2500)))
    assert (found.stored_gib, found.now_fen, found.keeps) == (5, 5 * 720 * 2499, False)
    free = storage_effect(clerk, StoragePrice(Decimal(3)), {lab.pk: 7})
    assert (free.stored_gib, free.now_fen) == (7, 7 * 720 * 2)


def test_the_effect_of_a_listed_price_is_that_of_what_follows(
    clerk: Actor, lab: Organisation, package: Package
) -> None:
    for item, fen in ((UnitItem.CPU, 900), (UnitItem.MEMORY, 50)):
        services.set_unit_price(clerk, unit=Unit(item), rate_fen_per_hour=Decimal(fen))
    services.follow_price_list(clerk, package_id=package.pk, follows=True)
    used(lab, package)
    found = unit_effect(clerk, ListedPrice(Unit(UnitItem.CPU), Decimal(800)))
    assert [(step.old, step.new) for step in found.steps] == [(Decimal(1000), Decimal(900))]
    assert (found.used_fen, found.unused) == (-300, False)
    nobody = unit_effect(clerk, ListedPrice(Unit(UnitItem.GPU, "A100", "mig", "MIG 随便写"), Decimal(1)))
    assert (nobody.steps, nobody.unused) == ((), True)


def test_a_preview_changes_nothing(clerk: Actor, package: Package) -> None:
    changes.try_out(clerk, PackagePrice(package.pk, Decimal(1)))
    assert rate(package) == 1000
    assert not Entry.objects.filter(action="billing.price.set", after__rate_fen_per_hour="1").exists()


def test_only_who_may_set_it_may_decide(clerk: Actor, package: Package) -> None:
    request = ask(clerk, package, 1)
    assert request is not None
    with pytest.raises(DomainError):
        changes.approve(make_member(make_organisation()), request_id=request.pk)
