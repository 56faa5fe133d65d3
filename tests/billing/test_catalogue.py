"""Packages and price versions."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction

from apps.audit.models import Entry
from apps.billing import selectors, services
from apps.billing.choices import GpuMode, Isolation, UnitItem
from apps.billing.models import Package, PriceVersion
from apps.billing.prices.pricelist import Unit
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from tests.billing.builders import PLATFORM, make_package, price_of

HOUR = timedelta(hours=1)


def spec(**columns: Any) -> services.PackageSpec:
    base: dict[str, Any] = {"name_en": "Half card", "name_zh": "半卡", "cpu_milli": 4000, "memory_mib": 16384}
    return services.PackageSpec(**{**base, **columns})


def set_price(package: Package, rate: str, at: object = None) -> PriceVersion:
    return services.set_price(
        PLATFORM,
        package_id=package.pk,
        rate_fen_per_hour=Decimal(rate),
        effective_from=at,  # type: ignore[arg-type]
    ).version


def test_a_package_has_names_in_both_languages_and_a_price(platform: Actor) -> None:
    created = services.create_package(PLATFORM, spec=spec(), rate_fen_per_hour=Decimal("12.5"))
    assert (created.name("en"), created.name("zh-hans"), created.isolation) == ("Half card", "半卡", Isolation.NONE)
    (offered,) = selectors.packages(PLATFORM)
    assert offered.price is not None
    assert offered.price.rate_fen_per_hour == Decimal("12.5")


def test_isolation_follows_from_the_mode(platform: Actor) -> None:
    created = services.create_package(
        PLATFORM, spec=spec(gpu_count=1, gpu_mode=GpuMode.VGPU, gpu_memory_mib=8192, gpu_core_milli=250)
    )
    assert created.isolation == Isolation.MEMORY


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        ({"name_en": " "}, "name_en"),
        ({"name_zh": ""}, "name_zh"),
        ({"cpu_milli": 0}, "cpu_milli"),
        ({"memory_mib": -1}, "memory_mib"),
        ({"gpu_count": 1}, "gpu_mode"),
        ({"gpu_mode": "whole"}, "gpu_mode"),
        ({"gpu_count": 1, "gpu_mode": "half"}, "gpu_mode"),
        ({"gpu_count": 1, "gpu_mode": "mig"}, "mig_profile"),
        ({"gpu_count": 1, "gpu_mode": "shared"}, "gpu_memory_mib"),
        ({"gpu_count": 1, "gpu_mode": "whole", "gpu_core_milli": 1001}, "gpu_core_milli"),
    ],
)
def test_a_wrong_package_is_told_beside_its_field(platform: Actor, columns: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refusal:
        services.create_package(PLATFORM, spec=spec(**columns))
    assert field in refusal.value.fields
    assert not Package.objects.exists()


def test_two_packages_have_two_names(platform: Actor) -> None:
    services.create_package(PLATFORM, spec=spec())
    with pytest.raises(Invalid) as refusal:
        services.create_package(PLATFORM, spec=spec(name_zh="另一个"))
    assert "name_en" in refusal.value.fields


def test_a_change_is_logged_with_before_and_after(platform: Actor) -> None:
    package = services.create_package(PLATFORM, spec=spec())
    services.update_package(PLATFORM, package_id=package.pk, spec=spec(cpu_milli=8000))
    services.update_package(PLATFORM, package_id=package.pk, spec=spec(cpu_milli=8000))
    entry = Entry.objects.get(action="billing.package.update")
    assert (entry.before, entry.after) == ({"cpu_milli": 4000}, {"cpu_milli": 8000})


def test_a_withdrawn_package_is_not_offered(platform: Actor) -> None:
    package = make_package()
    services.deactivate_package(PLATFORM, package_id=package.pk)
    assert list(selectors.packages(PLATFORM)) == []
    assert list(selectors.packages(PLATFORM, active_only=False)) == [package]
    services.activate_package(PLATFORM, package_id=package.pk)
    assert list(selectors.packages(PLATFORM)) == [package]


def test_members_change_nothing(alice: Actor) -> None:
    package = make_package()
    with pytest.raises(Denied):
        services.create_package(alice, spec=spec())
    with pytest.raises(Denied):
        services.set_price(alice, package_id=package.pk, rate_fen_per_hour=Decimal(1))
    with pytest.raises(Denied):
        services.deactivate_package(alice, package_id=package.pk)
    with pytest.raises(Denied):
        selectors.packages(alice, active_only=False)


def test_an_unknown_package_does_not_exist(platform: Actor) -> None:
    with pytest.raises(NotFound):
        services.set_price(PLATFORM, package_id=0, rate_fen_per_hour=Decimal(1))


def test_a_new_price_ends_the_former_at_that_instant(platform: Actor) -> None:
    package = make_package("10")
    second = set_price(package, "20")
    first = PriceVersion.objects.get(number=1)
    assert first.effective_to == second.effective_from
    assert [each.number for each in selectors.price_history(PLATFORM, package_id=package.pk)] == [2, 1]
    assert Entry.objects.filter(action="billing.price.set").latest("pk").before["number"] == 1


def test_the_price_that_is_in_force_again_writes_no_version(platform: Actor) -> None:
    package = make_package("10")
    logged = Entry.objects.filter(action="billing.price.set").count()
    for at in (None, db_now() + HOUR):
        priced = services.set_price(
            PLATFORM, package_id=package.pk, rate_fen_per_hour=Decimal("10.00"), effective_from=at
        )
        assert (priced.version, priced.new) == (price_of(package), False)
    assert PriceVersion.objects.get().effective_to is None
    assert Entry.objects.filter(action="billing.price.set").count() == logged
    set_price(package, "20")
    assert set_price(package, "10").number == 3


def test_a_price_that_was_the_lists_becomes_the_packages_own(platform: Actor) -> None:
    """The same rate, and another version: the former one says what it was made up of."""
    package = make_package("10")
    for item in (UnitItem.CPU, UnitItem.MEMORY):
        services.set_unit_price(PLATFORM, unit=Unit(item), rate_fen_per_hour=Decimal(1))
    services.follow_price_list(PLATFORM, package_id=package.pk, follows=True)
    listed = price_of(package)
    services.follow_price_list(PLATFORM, package_id=package.pk, follows=False)
    own = services.set_price(PLATFORM, package_id=package.pk, rate_fen_per_hour=listed.rate_fen_per_hour)
    assert (own.new, own.version.basis) == (True, None)
    assert listed.basis is not None


def test_a_planned_price_waits_for_its_time(platform: Actor) -> None:
    package = make_package("10")
    set_price(package, "20", db_now() + HOUR)
    current = selectors.current_price(package.pk)
    assert current is not None
    assert current.number == 1
    with pytest.raises(Conflict, match="already planned"):
        set_price(package, "30")


@pytest.mark.parametrize("rate", ["-1", "NaN", "Infinity", "100000001", "0.00000000001"])
def test_a_rate_that_cannot_be_stored_is_refused(platform: Actor, rate: str) -> None:
    with pytest.raises(Invalid) as refusal:
        set_price(make_package(None), rate)
    assert "rate" in refusal.value.fields


def test_no_price_begins_in_the_past(platform: Actor) -> None:
    with pytest.raises(Invalid):
        set_price(make_package(None), "1", db_now() - HOUR)


def test_no_instant_has_two_prices(platform: Actor) -> None:
    package = make_package("10")
    price_of(package)
    set_price(package, "20")
    second = price_of(package)
    with pytest.raises(IntegrityError, match="still in force"), transaction.atomic():
        PriceVersion.objects.create(
            package=package, number=3, rate_fen_per_hour=1, effective_from=second.effective_from + HOUR
        )
    PriceVersion.objects.filter(pk=second.pk).update(effective_to=second.effective_from + 2 * HOUR)
    with pytest.raises(IntegrityError, match="still in force"), transaction.atomic():
        PriceVersion.objects.create(
            package=package, number=3, rate_fen_per_hour=1, effective_from=second.effective_from + HOUR
        )


def test_a_price_version_is_closed_once_and_never_changed(platform: Actor) -> None:
    package = make_package("10")
    set_price(package, "20")
    with pytest.raises(IntegrityError, match="not allowed"), transaction.atomic():
        PriceVersion.objects.filter(number=1).update(effective_to=db_now() + HOUR)
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        PriceVersion.objects.update(rate_fen_per_hour=1)
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute("SET LOCAL ROLE NONE")
        with pytest.raises(IntegrityError, match="not allowed"), transaction.atomic():
            cursor.execute("UPDATE billing_priceversion SET rate_fen_per_hour = 1")
        cursor.execute("SET LOCAL ROLE plstack_app")
