"""The images that a form offers, with whether their runtimes are ready."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from apps.registry.models import Image
from apps.workloads.drivers.base import RuntimeImage
from apps.workloads.drivers.capabilities import ImagesMixin, ReferencesMixin
from apps.workloads.nodes import drivers
from apps.workloads.references import Reference
from apps.workloads.spec import AnyImage, Spec
from apps.workloads.spec import Image as SpecImage


@dataclass(frozen=True, slots=True)
class ImageChoice:
    image: Image
    installed: bool


def image_choices(images: Sequence[Image]) -> list[ImageChoice]:
    return [ImageChoice(image, is_installed(image)) for image in images]


def is_installed(image: Image) -> bool:
    """Whether a driver has the image ready, so that a start downloads nothing."""
    if image.reference:
        reference = Reference.parse(image.reference)
        return any(d.has_reference(reference) for d in drivers().values() if isinstance(d, ReferencesMixin))
    runtime = RuntimeImage(image.key, tuple(image.requirements))
    return any(driver.has_image(runtime) for driver in drivers().values() if isinstance(driver, ImagesMixin))


def architectures_of(images: Iterable[Image], chosen: object) -> tuple[str, ...]:
    """The architectures on which the image with this id runs; empty for any, and where it is none of `images`."""
    return next((tuple(image.architectures) for image in images if str(image.pk) == str(chosen or "")), ())


def on_image(spec: Spec, image: Image) -> Spec:
    """The spec with the image, on the architectures that it is for."""
    return replace(spec, image=spec_image(image), archs=tuple(image.architectures))


def spec_image(image: Image) -> AnyImage:
    """As a specification names it."""
    if image.reference:
        return Reference.parse(image.reference)
    return SpecImage(image.key, tuple(image.requirements))
