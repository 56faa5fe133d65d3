"""Adding a simulated zone, and offering packages for it."""

from decimal import Decimal
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing import services as billing
from apps.billing.models import Package
from apps.clusters.choices import Limiter
from apps.clusters.models import Accelerator, LogicalCluster, Node, Zone, ZonePackage
from apps.clusters.services.zones import locked_zone
from apps.clusters.simulation import CARDS, CPU_MILLI, DISK_MIB, MEMORY_MIB, MODELS, ListedPackage, Model, packages
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.permissions import Permission

DRIVER = "simulated"
NAME = "simulated"


def add_simulated_zone(actor: Actor, *, isolation: str, isolation_reason: str) -> Zone:
    """A zone of four nodes with eight cards each, none of which exists; not billed. Raises Conflict for a second one.

    `isolation`: of this machine, where the work of the zone's nodes really runs.
    """
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        if Zone.objects.select_for_update().filter(simulated=True).exists():
            raise Conflict(_("There is a simulated zone already."))
        zone = Zone.objects.create(name=_free_name(), simulated=True, billed=False)
        cluster = LogicalCluster.objects.create(zone=zone, name="default")
        for model in MODELS:
            _add_node(cluster, model, isolation, isolation_reason)
        record(actor, action="zone.simulated", target=Target("zone", str(zone.pk), zone.name))
    return zone


def _free_name() -> str:
    """`simulated`, unless a real zone has taken that name."""
    names = (NAME, *(f"{NAME}-{number}" for number in range(2, 100)))
    taken = set(Zone.objects.filter(name__in=names).values_list("name", flat=True))
    return next(name for name in names if name not in taken)


def _add_node(cluster: LogicalCluster, model: Model, isolation: str, isolation_reason: str) -> None:
    node = Node.objects.create(
        cluster=cluster,
        name=model.node,
        driver=DRIVER,
        arch=model.arch,
        isolation=isolation,
        isolation_reason=isolation_reason[:400],
        cpu_milli=CPU_MILLI,
        memory_mib=MEMORY_MIB,
        disk_mib=DISK_MIB,
        disk_free_mib=DISK_MIB // 2,
    )
    Accelerator.objects.bulk_create(
        Accelerator(
            node=node,
            uuid=f"SIM-{uuid4()}",
            index=index,
            vendor=model.vendor,
            model=model.name,
            memory_mib=model.memory_mib,
            mode=model.modes[index],
            limiter=Limiter.SIMULATED,
        )
        for index in range(CARDS)
    )


def offer_packages(actor: Actor, *, zone_id: UUID) -> int:
    """Packages for every kind of slice of the simulated zone; how many are on offer. Free unless billed."""
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    with transaction.atomic():
        zone = locked_zone(actor, zone_id)
        if not zone.simulated:
            raise Conflict(_("Only a simulated zone has packages of its own."))
        for listed in packages():
            _offer(actor, zone, listed)
    return len(packages())


def _offer(actor: Actor, zone: Zone, listed: ListedPackage) -> None:
    """Made once; a package of an earlier simulated zone is offered again."""
    package = Package.objects.filter(name_en=listed.spec.name_en).first()
    rate = listed.fen_per_hour if zone.billed else Decimal(0)
    if package is None:
        package = billing.create_package(actor, spec=listed.spec, rate_fen_per_hour=rate)
    else:
        billing.activate_package(actor, package_id=package.pk)
        billing.set_price(actor, package_id=package.pk, rate_fen_per_hour=rate)
    ZonePackage.objects.update_or_create(
        package=package, defaults={"zone": zone, "listed_fen_per_hour": listed.fen_per_hour}
    )


def set_billed(actor: Actor, *, zone_id: UUID, billed: bool) -> Zone:
    """Charge what is listed for the simulated zone's packages from now on, or nothing. What runs keeps its price."""
    actor.require(Permission.PLATFORM_PRICES_MANAGE)
    with transaction.atomic():
        zone = locked_zone(actor, zone_id)
        if not zone.simulated:
            raise Conflict(_("Real zones are always billed."))
        if zone.billed == billed:
            return zone
        zone.billed = billed
        zone.save(update_fields=["billed"])
        for offer in ZonePackage.objects.filter(zone=zone):
            rate = offer.listed_fen_per_hour if billed else Decimal(0)
            billing.set_price(actor, package_id=offer.package_id, rate_fen_per_hour=rate)
        record(
            actor,
            action="zone.billed",
            target=Target("zone", str(zone.pk), zone.name),
            before={"billed": not billed},
            after={"billed": billed},
        )
    return zone
