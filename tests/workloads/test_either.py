"""Several packages that would do: the work starts on whichever has room, and is charged as the one that it got."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.audit.models import Entry
from apps.billing import selectors as funds
from apps.billing.choices import GpuMode
from apps.billing.models import Hold, Package
from apps.clusters.models import Accelerator
from apps.common.errors import Invalid, QuotaExceeded
from apps.common.scoping import acting
from apps.tenants.choices import Resource
from apps.tenants.models import Quota
from apps.training import services as training
from apps.training.choices import KIND as TRAINING
from apps.workloads.choices import Status
from apps.workloads.models import Event, Workload
from apps.workloads.offers.package_options import also_named, also_of, chosen_package_id, options_of, spec_on_any
from apps.workloads.offers.quoting import offer, resources_of
from apps.workloads.reconcile.schedule import run_pass
from apps.workloads.timeline import event_title
from tests.builders import World, make_world, platform, reload
from tests.training.kit import request_for
from tests.workloads.cards import make_gpu_node, make_gpu_package


@pytest.fixture
def world(db: None) -> World:
    """One H100 and a faulty A100: what asks for either gets the dearer one."""
    with acting(platform()):
        made = make_world()
        make_gpu_node(cards=1, model="H100")
        make_gpu_node(cards=1, model="A100", name="gpu-b01")
        make_gpu_node(cards=1, model="L40S", name="gpu-c01")
        Accelerator.objects.filter(model="A100").update(healthy=False)
    return made


@pytest.fixture
def a100(world: World) -> Package:
    return priced(world, "A100", 1000)


@pytest.fixture
def h100(world: World) -> Package:
    return priced(world, "H100", 3000)


def priced(world: World, model: str, rate_fen: int) -> Package:
    """As it is on offer, with its price."""
    with acting(platform()):
        made = make_gpu_package(model=model, rate_fen=rate_fen)
    with acting(world.actor):
        found: Package = funds.packages(world.actor).get(pk=made.pk)
    return found


def submit(world: World, chosen: Package, *also: Package, **changes: Any) -> Workload:
    with acting(world.actor):
        request = request_for(world, package_id=chosen.pk, also_ids=tuple(each.pk for each in also), **changes)
        return training.submit(world.actor, request).workload


def test_it_is_charged_as_the_package_that_it_got(world: World, a100: Package, h100: Package) -> None:
    workload = submit(world, a100, h100)
    assert (workload.package_id, workload.frozen_spec.gpu and workload.frozen_spec.gpu.any_of) == (
        a100.pk,
        ("A100", "H100"),
    )
    with acting(platform()):
        assert Hold.objects.get(workload_id=workload.pk).amount_fen == 3000  # of the dearest
        run_pass(platform())
        assert reload(workload).status == Status.PLACED
        assert (workload.package_id, workload.price_version.rate_fen_per_hour) == (h100.pk, Decimal(3000))
        assert event_title(Event.objects.get(workload=workload, kind="given")) == "It got H100, listed at ¥30.00/h"
        row = Entry.objects.get(action="workload.package_given")
        assert (row.before["package"], row.after["package"]) == (a100.pk, h100.pk)
    assert (chosen_package_id(workload), also_of(workload)) == (a100.pk, (h100.pk,))


def test_the_database_lets_it_take_no_price_but_those_that_it_was_submitted_with(
    world: World, a100: Package, h100: Package
) -> None:
    workload, strange = submit(world, a100, h100), priced(world, "L40S", 10)
    given = {"package_id": h100.pk, "price_version_id": h100.price and h100.price.pk}
    bad: list[dict[str, Any]] = [
        given,  # still waiting
        {"status": Status.PLACED, "package_id": h100.pk},  # one's package at the other's price
        {"status": Status.PLACED, "package_id": strange.pk, "price_version_id": strange.price and strange.price.pk},
    ]
    with acting(platform()):
        rows = Workload.objects.filter(pk=workload.pk)
        for columns in bad:
            with pytest.raises(IntegrityError), transaction.atomic():
                rows.update(**columns)
        assert rows.update(status=Status.PLACED, **given) == 1


def test_the_quote_shows_each_price_and_holds_for_the_dearest(world: World, a100: Package, h100: Package) -> None:
    with acting(world.actor):
        alone, both = offer(world.actor, a100, kind=TRAINING), offer(world.actor, a100, kind=TRAINING, also=(h100,))
    assert not alone.starts_now
    assert both.starts_now
    assert (both.quote.hold_fen, [each.quote.rate_fen_per_hour for each in both.choices]) == (
        3000,
        [Decimal(1000), Decimal(3000)],
    )


def test_only_what_is_as_large_and_cut_the_same_way_would_do(world: World, a100: Package) -> None:
    with acting(platform()):
        wrong = [
            make_gpu_package(count=2, model="H100"),
            make_gpu_package(model="H100", mode=GpuMode.VGPU, memory_mib=1024),
            make_gpu_package(model="A100"),
            make_gpu_package(model="910B3"),
            world.package,
        ]
        make_gpu_node(cards=1, model="910B3", name="gpu-d01")
        Accelerator.objects.filter(model="910B3").update(vendor="huawei")
    pair = [priced(world, "H100", 3000), priced(world, "H100", 3500)]
    with acting(world.actor):
        for each in wrong:
            with pytest.raises(Invalid) as refused:
                also_named(world.actor, a100, [each.pk])
            assert "also" in refused.value.fields
        with pytest.raises(Invalid, match="same card"):
            also_named(world.actor, a100, [each.pk for each in pair])
        assert also_named(world.actor, a100, [pair[0].pk]) == (pair[0],)
        with pytest.raises(Invalid):
            also_named(world.actor, a100, [2**40])


def test_it_counts_against_each_models_quota_and_once_in_all(world: World, a100: Package, h100: Package) -> None:
    with acting(platform()):
        for model, limit in (("H100", 0), ("", 1000)):
            Quota.objects.create(organisation=world.organisation, resource=Resource.GPU_MILLI, model=model, limit=limit)
    with pytest.raises(QuotaExceeded):
        submit(world, a100, h100)
    with acting(platform()):
        Quota.objects.filter(model="H100").update(limit=1000)
    assert submit(world, a100, h100).status == Status.QUEUED
    with pytest.raises(QuotaExceeded):
        submit(world, a100)


def test_options_without_an_alternative_change_nothing(world: World, a100: Package) -> None:
    assert options_of(a100, ()) == ()
    with acting(world.actor):
        assert spec_on_any(world.actor, resources_of(a100), a100, ()) == resources_of(a100)
