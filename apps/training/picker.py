"""The choices of the form as it shows them: images with their readiness, packages with room, start and price."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from django.conf import settings

from apps.billing.models import Package
from apps.common.actor import Actor
from apps.registry.models import Image
from apps.training.capacity import MOST, room
from apps.training.quoting import resources_of
from apps.workloads.drivers.base import RuntimeImage
from apps.workloads.drivers.local.runtime import is_complete, key
from apps.workloads.forecast import Forecast, forecasts
from apps.workloads.placing import is_simulated, read_zones
from apps.workloads.waiting import WaitReport, explain

# Causes that no waiting removes: the package is on offer, but nothing here could ever run it.
HOPELESS = frozenset({"no_nodes", "never_fits", "no_such_model", "no_such_mode", "isolation"})


@dataclass(frozen=True, slots=True)
class ImageChoice:
    image: Image
    installed: bool


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


def image_choices(images: Sequence[Image]) -> list[ImageChoice]:
    return [ImageChoice(image, _installed(image)) for image in images]


def _installed(image: Image) -> bool:
    """Whether this machine has the image's runtime ready, so that nothing is downloaded at the start."""
    runtime = RuntimeImage(image.key, tuple(image.requirements))
    return is_complete(Path(settings.PLSTACK_HOME) / "runtimes" / key(runtime))


def package_choices(actor: Actor, packages: Sequence[Package]) -> list[PackageChoice]:
    """All packages against the cluster as it is now, in a fixed number of queries."""
    read_zones(packages)
    specs = [resources_of(package) for package in packages]
    return [
        PackageChoice(package, copies, outlook)
        for package, copies, outlook in zip(packages, room(actor, specs), forecasts(actor, specs), strict=True)
    ]
