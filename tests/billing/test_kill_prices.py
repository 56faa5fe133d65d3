"""kill -9 at every point of what changes terms: prices, discounts, vouchers. The new ones hold whole, or the old."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from apps.billing import services
from apps.billing.choices import AccountKind, Term, TransferKind, UnitItem
from apps.billing.models import Discount, Package, PriceVersion, TermPrice, UnitPrice, Voucher
from apps.billing.prepaid.term_prices import set_term_price
from apps.billing.prices.discounts.services import end_discount, set_discount
from apps.billing.prices.pricelist import Unit, price_of
from apps.billing.prices.units.selectors import prices_at, resources_of
from apps.billing.storage.selectors import storage_package
from apps.billing.storage.services import set_storage_price
from apps.billing.vouchers.services import end_due_vouchers, void_voucher
from apps.common.clock import db_now
from tests.billing.builders import PLATFORM, balance, make_package, make_voucher
from tests.billing.killing_kit import World, again, kill_everywhere, logged, moved

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("platform")]
CPU, MEMORY = Unit(UnitItem.CPU), Unit(UnitItem.MEMORY)


def set_unit(unit: Unit, rate: int) -> None:
    services.set_unit_price(PLATFORM, unit=unit, rate_fen_per_hour=Decimal(rate))


def in_force(package: Package) -> PriceVersion:
    """The one that has no end; there is never none and never two."""
    return PriceVersion.objects.get(package=package, effective_to__isnull=True)


@pytest.fixture
def followers() -> list[Package]:
    """Two packages whose price follows the list; another one has a price of its own."""
    set_unit(CPU, 10)
    set_unit(MEMORY, 5)
    made = [make_package(780) for _number in range(3)]
    for package in made[:2]:
        services.follow_price_list(PLATFORM, package_id=package.pk, follows=True)
    return made


def the_list_and_its_followers_agree(packages: list[Package]) -> None:
    now = db_now()
    for package in packages[:2]:
        version = in_force(package)
        assert version.rate_fen_per_hour == price_of(resources_of(package), prices_at(now)).rate
        entries = logged("package", package.pk).count("billing.price.set")
        assert entries == PriceVersion.objects.filter(package=package).count()
    assert in_force(packages[2]).rate_fen_per_hour == 780
    for price in UnitPrice.objects.all():
        assert "billing.unit_price.set" in logged("unit_price", price.pk)


def test_the_price_list_and_all_that_follow_it_change_at_once_or_not_at_all(followers: list[Package]) -> None:
    rates: dict[World, int] = {}

    def change(world: World) -> None:
        set_unit(CPU, rates[world])

    def prepare(world: World) -> Callable[[], Any]:
        rates[world] = 11 + len(rates)
        return lambda: change(world)

    def check(world: World) -> None:
        the_list_and_its_followers_agree(followers)
        assert in_force(followers[0]).rate_fen_per_hour == rates[world] + 2 * 5

    def at_once(world: World) -> None:
        the_list_and_its_followers_agree(followers)

    assert len(kill_everywhere(prepare, change, check, at_once=at_once)) >= 2


def test_a_package_comes_to_the_list_and_leaves_it_whole(followers: list[Package]) -> None:
    package = followers[2]

    def turn(world: World) -> None:
        for follows in (True, False):
            services.follow_price_list(PLATFORM, package_id=package.pk, follows=follows)

    def at_once(world: World) -> None:
        package.refresh_from_db()
        priced = in_force(package)
        assert not package.follows_list or priced.basis is not None

    def check(world: World) -> None:
        package.refresh_from_db()
        assert (package.follows_list, in_force(package).rate_fen_per_hour) == (False, Decimal(20))

    assert len(kill_everywhere(lambda world: lambda: turn(world), turn, check, at_once=at_once)) >= 4


def test_a_unit_is_taken_off_the_list_once() -> None:
    def unit(world: World) -> UnitPrice:
        return UnitPrice.objects.filter(item=UnitItem.GPU, gpu_mode="whole").order_by("-number")[0]

    def end(world: World) -> None:
        services.end_unit_price(PLATFORM, price_id=unit(world).pk)

    def prepare(world: World) -> Callable[[], Any]:
        set_unit(Unit(UnitItem.GPU, "", "whole"), 900)
        return lambda: end(world)

    def check(world: World) -> None:
        assert unit(world).effective_to is not None
        assert logged("unit_price", unit(world).pk) == ["billing.unit_price.set", "billing.unit_price.end"]

    assert len(kill_everywhere(prepare, end, check)) >= 2


def test_a_package_is_made_with_its_price_or_not_at_all() -> None:
    def make(world: World) -> None:
        if not Package.objects.filter(name_en=world.lab.name).exists():
            spec = services.PackageSpec(name_en=world.lab.name, name_zh=world.lab.name, cpu_milli=1000, memory_mib=1024)
            services.create_package(PLATFORM, spec=spec, rate_fen_per_hour=Decimal(5))

    def at_once(world: World) -> None:
        for made in Package.objects.filter(name_en=world.lab.name):
            assert in_force(made).rate_fen_per_hour == 5

    def check(world: World) -> None:
        assert Package.objects.filter(name_en=world.lab.name).count() == 1

    assert len(kill_everywhere(lambda world: lambda: make(world), make, check, at_once=at_once)) >= 2


def test_prices_of_packages_terms_and_storage_change_with_their_entry_in_the_log() -> None:
    package = make_package(780)

    def change(world: World) -> None:
        services.set_price(PLATFORM, package_id=package.pk, rate_fen_per_hour=Decimal(900))
        set_term_price(PLATFORM, package_id=package.pk, term=Term.MONTH, price_fen=30_000)
        set_storage_price(PLATFORM, rate_fen_per_hour=Decimal(2))

    def at_once(world: World) -> None:
        """As many entries as versions, and one version in force of each."""
        stored = storage_package()
        for each in filter(None, (package, stored)):
            assert in_force(each).number == logged("package", each.pk).count("billing.price.set")
        terms = TermPrice.objects.filter(package=package)
        assert terms.count() == logged("package", package.pk).count("billing.term_price.set") <= 1

    def check(world: World) -> None:
        at_once(world)
        stored = storage_package()
        assert stored is not None
        assert (in_force(package).rate_fen_per_hour, in_force(stored).rate_fen_per_hour) == (Decimal(900), Decimal(2))
        assert TermPrice.objects.get(package=package, effective_to__isnull=True).price_fen == 30_000

    assert len(kill_everywhere(lambda world: lambda: change(world), change, check, at_once=at_once)) >= 6


def test_a_discount_is_set_and_ended_once() -> None:
    def grant(world: World) -> None:
        if not Discount.objects.filter(organisation=world.lab, effective_to__isnull=False).exists():
            made = set_discount(PLATFORM, organisation_id=world.lab.pk, off=Decimal("0.2"))
            end_discount(PLATFORM, discount_id=made.pk)

    def check(world: World) -> None:
        made = Discount.objects.get(organisation=world.lab)
        assert (made.number, made.off) == (1, Decimal("0.2"))
        assert made.effective_to is not None
        assert logged("organisation", world.lab.pk) == ["billing.discount.set", "billing.discount.end"]

    assert len(kill_everywhere(lambda world: lambda: grant(world), grant, check)) >= 4


def voucher(world: World) -> Voucher:
    return Voucher.objects.get(organisation=world.lab)


@pytest.mark.parametrize("how", ["voided", "over"])
def test_a_voucher_ends_once(how: str) -> None:
    def end(world: World) -> None:
        if how == "voided":
            again(lambda: void_voucher(PLATFORM, voucher_id=voucher(world).pk, reason="wrong"))
        else:
            end_due_vouchers(PLATFORM)

    def prepare(world: World) -> Callable[[], Any]:
        now, over = db_now().replace(minute=0, second=0, microsecond=0), timedelta(days=-29 if how == "over" else 29)
        make_voucher(world.lab, 700, valid_from=now - timedelta(days=30), valid_until=now + over)
        return lambda: end(world)

    def check(world: World) -> None:
        assert (voucher(world).left_fen, balance(world.lab, AccountKind.VOUCHER)) == (0, 0)
        assert moved(world, TransferKind.VOUCHER_END) == [700]
        assert (voucher(world).voided_at is not None) == (how == "voided")

    assert len(kill_everywhere(prepare, end, check)) >= 2
