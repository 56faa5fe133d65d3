"""Winding up a toy: a program that says something and ends."""

from dataclasses import replace

from apps.common.actor import Actor
from apps.registry import selectors as registry
from apps.workloads import services as workloads
from apps.workloads.launching.request import Launch
from apps.workloads.launching.submission import choose_package, submission
from apps.workloads.models import Workload
from apps.workloads.offers.quoting import resources_of
from apps.workloads.spec import Image as SpecImage
from tests.kinds.toy.kind import KIND


def wind_up(actor: Actor, launch: Launch, *, says: str) -> Workload:
    """A toy that is queued. Raises as `workloads.submit`."""
    image = registry.choosable_image(actor, launch.image_id)
    package = choose_package(actor, launch.package_id)
    spec = replace(
        resources_of(package),
        image=SpecImage(image.key, tuple(image.requirements)),
        argv=("python", "-c", f"print({says!r})"),
        workdir="/workspace",
    )
    return workloads.submit(actor, submission(actor, KIND, spec, package, launch))
