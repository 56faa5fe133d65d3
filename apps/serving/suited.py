"""Which images can run the script that a version of a model begins with."""

from collections.abc import Iterable, Sequence

from apps.modelhub.models import ModelVersion
from apps.registry.models import Image
from apps.registry.picker import is_installed
from apps.serving.starters import starter_of


def lacking(image: Image, version: ModelVersion) -> tuple[str, ...]:
    """Packages that the script needs and a runtime does not list. Nobody knows what a container image holds: none."""
    if image.reference:
        return ()
    listed = {pin.partition("==")[0].lower() for pin in image.requirements}
    return tuple(min(names) for names in starter_of(version).needs if not names & listed)


def best(images: Iterable[Image], version: ModelVersion) -> Image | None:
    """A runtime that lists all that is needed: one that is installed before others, then the one with the least.

    None where no runtime does, or nothing is needed.
    """
    needs = starter_of(version).needs
    fitting: Sequence[Image] = [each for each in images if not each.reference and not lacking(each, version)]
    if not needs or not fitting:
        return None
    return min(fitting, key=lambda each: (not is_installed(each), len(each.requirements), each.name))
