"""What keeps a package from ever starting here: for those who offer it, whoever may start it and whatever runs now."""

from collections.abc import Sequence
from dataclasses import replace

from apps.billing.models import Package
from apps.clusters.rights import reserved_clusters
from apps.common.actor import system_actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads.explaining.cases import Case, Words
from apps.workloads.explaining.causes import words_of
from apps.workloads.explaining.hypothetical import ASKED, USUAL_PRIORITY
from apps.workloads.explaining.names import Names
from apps.workloads.explaining.standing import ALONE, standing_of
from apps.workloads.offers.quoting import resources_of
from apps.workloads.placing import is_simulated, read_zones, zone_of
from apps.workloads.requested import make_task
from scheduler import Cause, Engine


def obstacles(packages: Sequence[Package]) -> dict[int, Words]:
    """By id of the package, for those that no machine could run as it is set up now."""
    read_zones(packages)
    found: dict[int, Words] = {}
    with ALONE, acting(system_actor()):
        now = db_now()
        worlds = {
            simulated: standing_of(now, simulated=simulated).world for simulated in set(map(is_simulated, packages))
        }
        everywhere = reserved_clusters()
        for package in packages:
            cause = _cause(package, worlds[is_simulated(package)].engine, everywhere)
            if cause:
                found[package.pk] = _told(cause, package)
    return found


def _cause(package: Package, engine: Engine, entitled: tuple[str, ...]) -> Cause | None:
    task = make_task(
        resources_of(package),
        id=ASKED,
        organisation="",
        department="",
        user="",
        priority=USUAL_PRIORITY,
        submitted_at=0.0,
    )
    return engine.obstacle(replace(task, entitled=entitled))


def _told(cause: Cause, package: Package) -> Words:
    zone, gpu = zone_of(package), resources_of(package).gpu
    names = Names(zone=zone.name if zone else "")
    return words_of(Case(cause.code, dict(cause.params), names=names, gpu=gpu, asked=True, offered=True))
