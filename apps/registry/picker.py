"""The images of a form as it shows them: with whether they are ready on this machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from apps.registry.models import Image
from apps.workloads.drivers.base import RuntimeImage
from apps.workloads.drivers.local.runtime import is_complete, key


@dataclass(frozen=True, slots=True)
class ImageChoice:
    image: Image
    installed: bool


def image_choices(images: Sequence[Image]) -> list[ImageChoice]:
    return [ImageChoice(image, is_installed(image)) for image in images]


def is_installed(image: Image) -> bool:
    """Whether this machine has the image's runtime ready, so that nothing is downloaded at the start."""
    runtime = RuntimeImage(image.key, tuple(image.requirements))
    return is_complete(Path(settings.PLSTACK_HOME) / "runtimes" / key(runtime))
