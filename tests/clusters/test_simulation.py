"""A simulated zone: added with a click, tried with real submissions, never charged unless told, taken away again."""

from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import LazySettings

from apps.audit.models import Entry
from apps.billing import selectors as funds
from apps.billing.models import MeterSession, Package
from apps.clusters import services
from apps.clusters.models import Accelerator, Node, Zone, ZonePackage
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole
from apps.training.choices import KIND as TRAINING
from apps.training.services import spec_of
from apps.workloads import nodes
from apps.workloads import services as workloads
from apps.workloads.choices import Status
from apps.workloads.drivers.base import Isolation, IsolationLevel
from apps.workloads.drivers.said import Said
from apps.workloads.hardware import removal, simulation
from apps.workloads.models import Attempt, Placement, Workload
from apps.workloads.reconcile.launch import launch_request
from apps.workloads.reconcile.schedule import run_pass
from apps.workloads.states import Claim, run, start
from tests.builders import World, make_staff, make_world, platform, reload, staff_actor, top_up


@pytest.fixture
def world(db: None, tmp_path: Path, settings: LazySettings) -> World:
    settings.PLSTACK_HOME = tmp_path
    with acting(platform()):
        return make_world(balance_fen=0)


@pytest.fixture
def zone(world: World) -> Zone:
    with acting(platform()):
        found = services.add_simulated_zone(platform(), isolation="L1", isolation_reason="bubblewrap")
        services.offer_packages(platform(), zone_id=found.pk)
        return found


def package_named(name: str) -> Package:
    return Package.objects.get(name_en=f"{name} (simulated)")


def submit(world: World, package: Package, actor: Actor | None = None) -> Workload:
    actor = actor or world.actor
    with acting(actor):
        quote = funds.quote(actor, package_id=package.pk)
        return workloads.submit(
            actor,
            workloads.Submission(
                kind=TRAINING,
                name="tried",
                spec=spec_of(package, world.image, argv=("true",)),
                package_id=package.pk,
                price_version_id=quote.price_version_id,
                key=uuid4().hex,
                id=uuid4(),
            ),
        )


def placed(world: World, name: str) -> Workload:
    workload = submit(world, package_named(name))
    with acting(platform()):
        run_pass(platform())
    return reload_as_platform(workload)


def reload_as_platform(workload: Workload) -> Workload:
    with acting(platform()):
        return reload(workload)


def pieces(workload: Workload) -> list[Placement]:
    with acting(platform()):
        rows = Placement.objects.filter(attempt__workload=workload).select_related("accelerator", "node")
        return list(rows)


def test_it_has_four_nodes_of_eight_cards_in_every_mode(zone: Zone) -> None:
    assert Node.objects.filter(cluster__zone=zone, driver="simulated").count() == 4
    assert Accelerator.objects.filter(node__cluster__zone=zone).count() == 32
    modes = set(Accelerator.objects.filter(node__name="sim-h100").values_list("mode", flat=True))
    assert modes == {"whole", "mig", "vgpu", "shared"}
    assert not zone.billed


def test_a_second_one_is_refused(zone: Zone) -> None:
    with pytest.raises(Conflict):
        services.add_simulated_zone(platform(), isolation="L1", isolation_reason="")


def test_its_packages_cost_nothing_and_are_offered_once(zone: Zone) -> None:
    offered = ZonePackage.objects.filter(zone=zone).count()
    assert offered >= 14
    assert services.offer_packages(platform(), zone_id=zone.pk) == offered
    prices = {funds.current_price(offer.package_id) for offer in ZonePackage.objects.all()}
    assert {price.rate_fen_per_hour for price in prices if price} == {Decimal(0)}


@pytest.mark.parametrize(
    ("name", "mode", "memory_mib"),
    [
        ("H100 whole card", "whole", 81_920),
        ("A100-80G MIG 3g.40gb", "mig", 40_960),
        ("A30 MIG 1g.6gb", "mig", 6_144),
        ("Ascend 910B3 vGPU 1/4", "vgpu", 16_384),
        ("A30 shared 1/8", "shared", 3_072),
    ],
)
def test_each_kind_of_slice_is_placed_on_a_card_of_its_mode(
    world: World, zone: Zone, name: str, mode: str, memory_mib: int
) -> None:
    workload = placed(world, name)
    assert workload.status == Status.PLACED, workload.explanation
    assert workload.simulated
    (piece,) = pieces(workload)
    assert piece.accelerator is not None
    assert piece.accelerator.mode == mode
    assert piece.node.cluster.zone_id == zone.pk
    with acting(platform()):
        (grant,) = launch_request(Attempt.objects.get(workload=workload)).devices
    assert (grant.mode, grant.memory_mib) == (mode, memory_mib)
    assert (grant.profile, grant.slot is not None) == (piece.mig_profile, mode == "mig")


def test_mig_slices_of_one_card_do_not_overlap(world: World, zone: Zone) -> None:
    held = [pieces(placed(world, "H100 MIG 3g.40gb"))[0] for _ in range(4)]
    assert len({(piece.accelerator_id, piece.mig_start) for piece in held}) == 4
    waits = placed(world, "H100 MIG 3g.40gb")
    assert waits.status == Status.QUEUED
    assert waits.explanation["cause"]


def test_real_work_never_lands_on_it_and_simulated_work_nowhere_else(world: World, zone: Zone) -> None:
    with acting(platform()):
        Node.objects.filter(pk=world.node.pk).update(status="cordoned")
        top_up(world.organisation, 100_000)
    real = submit(world, world.package)
    with acting(platform()):
        run_pass(platform())
    assert reload_as_platform(real).status == Status.QUEUED
    assert pieces(placed(world, "A30 whole card"))[0].node.name == "sim-a30"


def running(workload: Workload) -> Attempt:
    """As the reconcile loop writes it at the first proof of running."""
    with acting(platform()):
        attempt = Attempt.objects.select_related("workload").get(workload=workload)
        claim = Claim(attempt, attempt.fence)
        assert start(platform(), claim, {"driver": "simulated", "node": "sim-h100", "ref": str(attempt.pk)})
        assert run(platform(), claim, db_now())
    return attempt


def test_what_runs_on_it_is_not_metered_unless_the_zone_is_billed(world: World, zone: Zone) -> None:
    free = running(placed(world, "H100 vGPU 1/4"))
    with acting(platform()):
        assert not MeterSession.objects.filter(pk=free.pk).exists()
        services.set_billed(platform(), zone_id=zone.pk, billed=True)
        price = funds.current_price(package_named("H100 vGPU 1/4").pk)
        assert price is not None
        assert price.rate_fen_per_hour == 350
        billed = running_after_top_up(world)
        assert MeterSession.objects.filter(pk=billed.pk).exists()
        services.set_billed(platform(), zone_id=zone.pk, billed=False)
        assert funds.current_price(package_named("H100 vGPU 1/4").pk).rate_fen_per_hour == 0  # type: ignore[union-attr]


def running_after_top_up(world: World) -> Attempt:
    top_up(world.organisation, 100_000)
    return running(placed(world, "H100 vGPU 1/4"))


def test_the_heartbeat_keeps_its_nodes_seen_and_makes_figures_up(world: World, zone: Zone) -> None:
    placed(world, "H100 whole card")
    with acting(platform()):
        assert simulation.beat(platform(), Isolation(IsolationLevel.L0, (Said.plain("nothing"),))) == 4
    busy = Accelerator.objects.filter(node__name="sim-h100").order_by("-utilisation_pct").first()
    assert busy is not None
    assert busy.utilisation_pct > 40
    assert busy.temperature_c > 45
    assert 0 < busy.memory_used_mib < busy.memory_mib
    assert Node.objects.get(name="sim-a30").isolation == "L0"
    assert Node.objects.get(name="sim-a30").samples.get().gpu_pct == 0


def test_it_is_removed_only_when_nothing_lives_on_it(world: World, zone: Zone) -> None:
    workload = placed(world, "A30 whole card")
    waiting = submit(world, package_named("H100 whole card"))
    with acting(platform()):
        with pytest.raises(Conflict, match="tried"):
            removal.remove_simulated_zone(platform(), zone_id=zone.pk)
        assert removal.stop_zone(platform(), zone_id=zone.pk) == 2
        assert reload(waiting).status == Status.STOPPED
        Attempt.objects.filter(workload=workload).update(ended_at=db_now())
        Workload.objects.filter(pk=workload.pk).update(status=Status.STOPPED)
        removal.remove_simulated_zone(platform(), zone_id=zone.pk)
    assert not Zone.objects.filter(simulated=True).exists()
    assert not Node.objects.filter(driver="simulated").exists()
    assert not Accelerator.objects.exists()
    assert not Package.objects.filter(zone_offer__zone=zone, active=True).exists()
    with acting(platform()):
        assert Entry.objects.filter(action="zone.deleted").count() == 1
        again = services.add_simulated_zone(platform(), isolation="L1", isolation_reason="")
        services.offer_packages(platform(), zone_id=again.pk)
    assert Package.objects.filter(zone_offer__zone=again, active=True).count() >= 14


def test_who_may_not_manage_nodes_or_prices_changes_nothing(world: World, zone: Zone) -> None:
    with acting(platform()):
        finance, ops = make_staff(PlatformRole.FINANCE), make_staff(PlatformRole.OPS)
    with acting(staff_actor(finance)), pytest.raises(Denied):
        removal.remove_simulated_zone(staff_actor(finance), zone_id=zone.pk)
    with acting(staff_actor(ops)), pytest.raises(Denied):
        services.set_billed(staff_actor(ops), zone_id=zone.pk, billed=True)


def test_the_driver_of_simulated_nodes_is_found_by_its_name(world: World) -> None:
    assert nodes.driver_named("simulated").name == "simulated"
