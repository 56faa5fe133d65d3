"""Where the work of a package may run: its own zone, or any that is not simulated."""

from collections.abc import Iterable
from dataclasses import replace

from django.db.models import prefetch_related_objects

from apps.billing.models import Package
from apps.clusters.models import Zone, ZonePackage
from apps.workloads.spec import Spec


def read_zones(packages: Iterable[Package]) -> None:
    """Read the zones of many packages at once, so that `zone_of` asks nothing more."""
    prefetch_related_objects(list(packages), "zone_offer__zone")


def zone_of(package: Package) -> Zone | None:
    """The zone that the package is for; None for a package of every real zone."""
    offer: ZonePackage | None = getattr(package, "zone_offer", None)
    return offer.zone if offer else None


def is_simulated(package: Package) -> bool:
    """Whether the package is of hardware that does not exist."""
    zone = zone_of(package)
    return zone is not None and zone.simulated


def spec_with_place(spec: Spec, package: Package) -> Spec:
    """The spec with the place that its package names."""
    zone = zone_of(package)
    return replace(spec, zone=str(zone.pk) if zone else None, simulated=is_simulated(package))
