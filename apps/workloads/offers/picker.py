"""The packages of a form as it shows them: with room, start and price."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.billing.models import Package
from apps.common.actor import Actor
from apps.workloads.forecast import Forecast, forecasts
from apps.workloads.offers.capacity import MOST, room
from apps.workloads.offers.quoting import resources_of
from apps.workloads.placing import is_simulated, read_zones
from apps.workloads.waiting import WaitReport, explain

# Causes that no waiting removes: the package is on offer, but nothing here could ever run it.
HOPELESS = frozenset({"no_nodes", "never_fits", "no_such_model", "no_such_mode", "isolation"})


@dataclass(frozen=True, slots=True)
class PackageChoice:
    """One row of the picker. `rate_fen_per_hour` None: it has no price yet and cannot be chosen."""

    package: Package
    room: int
    forecast: Forecast

    @property
    def rate_fen_per_hour(self) -> Decimal | None:
        return self.package.price.rate_fen_per_hour if self.package.price else None

    @property
    def simulated(self) -> bool:
        return is_simulated(self.package)

    @property
    def plenty(self) -> bool:
        return self.room >= MOST

    @property
    def wait(self) -> WaitReport:
        return explain(self.forecast.explanation)

    @property
    def hopeless(self) -> bool:
        return self.forecast.explanation.get("cause") in HOPELESS


def package_choices(actor: Actor, packages: Sequence[Package]) -> list[PackageChoice]:
    """All packages against the cluster as it is now, in a fixed number of queries."""
    read_zones(packages)
    specs = [resources_of(package) for package in packages]
    return [
        PackageChoice(package, copies, outlook)
        for package, copies, outlook in zip(packages, room(actor, specs), forecasts(actor, specs), strict=True)
    ]
