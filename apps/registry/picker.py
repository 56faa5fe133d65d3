"""The images that a form offers, with whether their runtimes are ready."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.registry.models import Image
from apps.registry.recipes.catalogue import find
from apps.registry.recipes.recipe import GROUP_WORDS
from apps.registry.scanning.verdicts import Known, known_of
from apps.workloads.drivers.base import RuntimeImage
from apps.workloads.drivers.capabilities import ImagesMixin, ReferencesMixin
from apps.workloads.nodes import drivers
from apps.workloads.references import Reference
from apps.workloads.spec import AnyImage, Spec
from apps.workloads.spec import Image as SpecImage

FEW = 8
"""Up to so many images are shown without groups."""
OWN, COMMON, OTHERS, SHARED, RECEIVED = "own", "common", "others", "shared", "received"
TITLES: dict[str, Promise | str] = {
    OWN: _("My images"),
    COMMON: pgettext_lazy("images", "Common"),
    OTHERS: _("From the administrators"),
    SHARED: _("Shared by colleagues"),
    RECEIVED: _("Shared with us"),
    **GROUP_WORDS,
}


@dataclass(frozen=True, slots=True)
class ImageChoice:
    """`known`: what scans and policies say of a container image; None of a runtime.

    `received_from`: the name of the other organisation that shares it.
    """

    image: Image
    installed: bool
    known: Known | None = None
    received_from: str = ""


@dataclass(frozen=True, slots=True)
class ImageGroup:
    """Part of a long picker. `is_open`: what it holds is shown at once, not only when it is unfolded."""

    title: Promise | str
    choices: tuple[ImageChoice, ...]
    is_open: bool = False


def image_choices(actor: Actor, images: Sequence[Image]) -> list[ImageChoice]:
    known = known_of(actor.organisation_id, images)
    return [
        ImageChoice(image, is_installed(image), known.get(image.pk), image.received_from(actor.organisation_id))
        for image in images
    ]


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


def image_groups(choices: Sequence[ImageChoice], user_id: int | None, chosen: str) -> list[ImageGroup]:
    """One's own first, then the common ones, then by what they are for. A few images are one group without a title."""
    if len(choices) <= FEW:
        return [ImageGroup("", tuple(choices), True)] if choices else []
    groups: dict[str, list[ImageChoice]] = {name: [] for name in TITLES}
    for choice in choices:
        groups[RECEIVED if choice.received_from else _group_of(choice.image, user_id)].append(choice)
    return [
        ImageGroup(
            TITLES[name],
            tuple(found),
            name in (OWN, COMMON) or any(str(choice.image.pk) == chosen for choice in found),
        )
        for name, found in groups.items()
        if found
    ]


def _group_of(image: Image, user_id: int | None) -> str:
    if image.owner_id is not None:
        return OWN if image.owner_id == user_id else SHARED
    recipe = find(image.key)
    if recipe is None:
        return OTHERS
    return COMMON if recipe.common else recipe.group
