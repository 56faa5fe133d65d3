"""The images of a form as it shows them: with whether they are ready where work would start."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.registry.models import Image
from apps.workloads.drivers.base import RuntimeImage
from apps.workloads.drivers.capabilities import ImagesMixin
from apps.workloads.nodes import drivers


@dataclass(frozen=True, slots=True)
class ImageChoice:
    image: Image
    installed: bool


def image_choices(images: Sequence[Image]) -> list[ImageChoice]:
    return [ImageChoice(image, is_installed(image)) for image in images]


def is_installed(image: Image) -> bool:
    """Whether a driver has the image's runtime ready, so that nothing is downloaded at the start."""
    runtime = RuntimeImage(image.key, tuple(image.requirements))
    return any(driver.has_image(runtime) for driver in drivers().values() if isinstance(driver, ImagesMixin))
