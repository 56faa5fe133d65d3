"""The price list: versions of units, and the packages that follow it."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.models import Entry
from apps.billing import services
from apps.billing.choices import GpuMode, UnitItem
from apps.billing.models import Package, PriceVersion, UnitPrice
from apps.billing.prices.pricelist import PriceLine, Resources, Unit, price_of
from apps.billing.prices.units import selectors as listing
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from tests.billing.builders import PLATFORM
from tests.builders import make_package

CPU, MEMORY = Unit(UnitItem.CPU), Unit(UnitItem.MEMORY)
VGPU = Unit(UnitItem.GPU, "", GpuMode.VGPU)
VGPU_MEMORY = Unit(UnitItem.GPU_MEMORY, "", GpuMode.VGPU)
WHOLE = Unit(UnitItem.GPU, "", GpuMode.WHOLE)
H100 = Unit(UnitItem.GPU, "H100", GpuMode.WHOLE)


def set_unit(unit: Unit, rate: str, **more: object) -> UnitPrice:
    return services.set_unit_price(PLATFORM, unit=unit, rate_fen_per_hour=Decimal(rate), **more).version  # type: ignore[arg-type]


def follow(package: Package, *, follows: bool = True) -> PriceVersion | None:
    return services.follow_price_list(PLATFORM, package_id=package.pk, follows=follows)


def price(package: Package) -> Decimal:
    found = PriceVersion.objects.filter(package=package, effective_to__isnull=True).get()
    return found.rate_fen_per_hour


def test_a_price_is_the_sum_of_its_units() -> None:
    found = price_of(Resources(2500, 3072), {CPU: (Decimal(10), 1), MEMORY: (Decimal("0.5"), 3)})
    assert found.rate == Decimal("26.5")
    assert [(line.unit, line.quantity, line.number) for line in found.lines] == [
        (CPU, Decimal("2.5"), 1),
        (MEMORY, 3, 3),
    ]
    assert [PriceLine.from_json(line.as_json()) for line in found.lines] == list(found.lines)


def test_a_model_with_a_price_of_its_own_has_that() -> None:
    prices = {CPU: (Decimal(0), 1), MEMORY: (Decimal(0), 1), WHOLE: (Decimal(100), 1), H100: (Decimal(900), 1)}
    cards = {model: price_of(Resources(1000, 1024, 2, model, "whole", 1000), prices).rate for model in ("H100", "A10")}
    assert cards == {"H100": 1800, "A10": 200}


def test_rdma_costs_nothing_until_it_has_a_price() -> None:
    base = {CPU: (Decimal(10), 1), MEMORY: (Decimal(0), 1)}
    free = price_of(Resources(1000, 1024, rdma=True), base)
    assert (free.rate, free.missing, len(free.lines)) == (10, (), 2)
    priced = {**base, Unit(UnitItem.RDMA): (Decimal(25), 2)}
    assert price_of(Resources(1000, 1024, rdma=True), priced).rate == 35
    assert price_of(Resources(1000, 1024), priced).rate == 10


@pytest.mark.django_db
def test_a_price_of_rdma_changes_packages_that_follow_the_list() -> None:
    set_unit(CPU, "10")
    set_unit(MEMORY, "0")
    package = make_package(rate_fen=5)
    Package.objects.filter(pk=package.pk).update(rdma=True)
    follow(package)
    assert price(package) == 10
    set_unit(Unit(UnitItem.RDMA), "25")
    assert price(package) == 35
    with pytest.raises(Invalid):
        set_unit(Unit(UnitItem.RDMA, "H100"), "25")


def test_a_slice_is_priced_by_compute_by_memory_or_by_both() -> None:
    base = {CPU: (Decimal(0), 1), MEMORY: (Decimal(0), 1)}
    wanted = Resources(1000, 1024, 1, "A10", "vgpu", 250, 6144)
    compute, memory = {VGPU: (Decimal(400), 1)}, {VGPU_MEMORY: (Decimal(10), 1)}
    assert price_of(wanted, base | compute).rate == 100
    assert price_of(wanted, base | memory).rate == 60
    assert price_of(wanted, base | compute | memory).rate == 160
    assert not price_of(wanted, base).complete


@given(cpu=st.integers(1, 10**6), memory=st.integers(1, 10**7), parts=st.integers(2, 5))
def test_twice_the_resources_are_twice_the_price(cpu: int, memory: int, parts: int) -> None:
    prices = {CPU: (Decimal("12.3456789012"), 1), MEMORY: (Decimal("0.0000000001"), 1)}
    exact = sum((line.amount for line in price_of(Resources(cpu, memory), prices).lines), Decimal(0))
    more = sum((line.amount for line in price_of(Resources(cpu * parts, memory * parts), prices).lines), Decimal(0))
    assert more == exact * parts


def test_packages_that_follow_have_the_new_price_with_the_list(platform: Actor) -> None:
    package, own = make_package(), make_package()
    before = price(own)
    set_unit(CPU, "10")
    with pytest.raises(Conflict):  # memory has none yet
        follow(package)
    set_unit(MEMORY, "1")
    follow(package)
    gib = Decimal(package.memory_mib) / 1024
    assert price(package) == Decimal(package.cpu_milli) / 100 + gib
    set_unit(CPU, "20")
    assert price(package) == Decimal(package.cpu_milli) / 50 + gib
    newest = PriceVersion.objects.get(package=package, effective_to__isnull=True)
    assert [line["number"] for line in newest.basis] == [2, 1]
    assert price(own) == before


def test_a_planned_price_of_a_unit_plans_that_of_its_packages(platform: Actor) -> None:
    package = make_package()
    set_unit(CPU, "10")
    set_unit(MEMORY, "0")
    follow(package)
    later = db_now() + timedelta(days=2)
    set_unit(CPU, "30", effective_from=later)
    planned = PriceVersion.objects.get(package=package, effective_to__isnull=True)
    assert (planned.effective_from, planned.rate_fen_per_hour) == (later, Decimal(package.cpu_milli) * 3 / 100)
    assert {row.unit: (row.now.number if row.now else None) for row in listing.listed_units(PLATFORM)} == {
        CPU: 1,
        MEMORY: 1,
    }


def test_the_price_that_is_in_force_again_changes_nothing(platform: Actor) -> None:
    package = make_package()
    first = set_unit(CPU, "10")
    set_unit(MEMORY, "0")
    follow(package)
    written = (PriceVersion.objects.count(), Entry.objects.count())
    for at in (None, db_now() + timedelta(days=2)):
        again = services.set_unit_price(PLATFORM, unit=CPU, rate_fen_per_hour=Decimal(10), effective_from=at)
        assert (again.version, again.new) == (first, False)
    assert UnitPrice.objects.get(item=UnitItem.CPU).effective_to is None
    assert (PriceVersion.objects.count(), Entry.objects.count()) == written
    services.end_unit_price(PLATFORM, price_id=set_unit(H100, "5").pk)
    assert set_unit(H100, "5").number == 2  # off the list since, so on it again


def test_following_ends_and_begins_anew(platform: Actor) -> None:
    package = make_package()
    set_unit(CPU, "10")
    set_unit(MEMORY, "0")
    follow(package)
    with pytest.raises(Conflict):
        services.set_price(PLATFORM, package_id=package.pk, rate_fen_per_hour=Decimal(1))
    kept = price(package)
    assert follow(package, follows=False) is None
    set_unit(CPU, "99")
    assert price(package) == kept
    services.set_price(PLATFORM, package_id=package.pk, rate_fen_per_hour=Decimal(1))
    follow(package)
    assert price(package) == Decimal(package.cpu_milli) * 99 / 1000


def test_other_resources_change_the_price_of_what_follows(platform: Actor) -> None:
    package = make_package()
    set_unit(CPU, "10")
    set_unit(MEMORY, "0")
    follow(package)
    spec = services.PackageSpec(package.name_en, package.name_zh, cpu_milli=64_000, memory_mib=package.memory_mib)
    services.update_package(PLATFORM, package_id=package.pk, spec=spec)
    assert price(package) == 640


def test_what_is_needed_stays_on_the_list(platform: Actor) -> None:
    package = make_package()
    cpu = set_unit(CPU, "10")
    set_unit(MEMORY, "0")
    follow(package)
    with pytest.raises(Conflict), transaction.atomic():
        services.end_unit_price(PLATFORM, price_id=cpu.pk)
    follow(package, follows=False)
    services.end_unit_price(PLATFORM, price_id=cpu.pk)
    services.end_unit_price(PLATFORM, price_id=cpu.pk)
    assert [row.unit for row in listing.listed_units(PLATFORM)] == [MEMORY]
    assert set_unit(CPU, "11").number == 2


@pytest.mark.parametrize(
    ("unit", "field"),
    [
        (Unit("gold"), "item"),  # type: ignore[arg-type]
        (Unit(UnitItem.CPU, "H100"), "gpu_model"),
        (Unit(UnitItem.CPU, "", GpuMode.WHOLE), "gpu_mode"),
        (Unit(UnitItem.GPU), "gpu_mode"),
        (Unit(UnitItem.GPU, "A100", GpuMode.MIG), "mig_profile"),
        (Unit(UnitItem.GPU, "A100", GpuMode.WHOLE, "1g.5gb"), "mig_profile"),
        (Unit(UnitItem.GPU_MEMORY, "A100", GpuMode.WHOLE), "gpu_mode"),
    ],
)
def test_what_is_no_unit_is_refused(platform: Actor, unit: Unit, field: str) -> None:
    with pytest.raises(Invalid) as refused:
        set_unit(unit, "1")
    assert field in refused.value.fields


def test_rates_and_times_are_checked(platform: Actor) -> None:
    for rate in ("-1", "NaN", "100000001", "0.00000000001"):
        with pytest.raises(Invalid):
            set_unit(CPU, rate)
    with pytest.raises(Invalid):
        set_unit(CPU, "1", effective_from=db_now() - timedelta(minutes=1))
    set_unit(CPU, "1", effective_from=db_now() + timedelta(days=1))
    with pytest.raises(Conflict):
        set_unit(CPU, "2")
    with pytest.raises(Conflict):
        services.end_unit_price(platform, price_id=UnitPrice.objects.get().pk)
    assert UnitPrice.objects.count() == 1


def test_prices_of_the_list_are_never_edited(platform: Actor) -> None:
    cpu = set_unit(CPU, "10")
    for change in ({"rate_fen_per_hour": 1}, {"effective_from": db_now()}, {"number": 7}):
        with pytest.raises(IntegrityError), transaction.atomic():
            UnitPrice.objects.filter(pk=cpu.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        UnitPrice.objects.filter(pk=cpu.pk).delete()


def test_every_change_is_in_the_audit_log(platform: Actor) -> None:
    set_unit(CPU, "10")
    set_unit(CPU, "12")
    entry = Entry.objects.filter(action="billing.unit_price.set").latest("pk")
    assert (entry.before["rate_fen_per_hour"], entry.after["rate_fen_per_hour"]) == ("10.0000000000", "12")
