"""The administrators' management of images: which platform images are offered, and to whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.clusters.architectures import Architecture
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.registry import platforms
from apps.registry.distribution.holding import hold_image
from apps.registry.models import Image
from apps.registry.services import NAME, PIN, merge_pins, normalize_package_name
from apps.tenants.models import Organisation
from apps.workloads.references import MAX_REPOSITORY, Reference

MAX_SORT = 32_767
MAX_REFERENCE = MAX_REPOSITORY + 72  # "@sha256:" and its digits
TEXTS = ("name", "description_en", "description_zh")
FIELDS = (*TEXTS, "requirements", "reference", "architectures", "sort", "active", "restricted")


@dataclass(frozen=True, slots=True)
class ImageSpec:
    """An image of the platform. `requirements`: exact pins. `allowed`: ids of organisations, None for every one.

    `reference`: the container image that it is instead of pins, `<host>/<repository>@sha256:<digest>`.
    `architectures`: of the machines that it runs on, empty for any; what its registry says of a container image wins.
    """

    name: str
    description_en: str
    description_zh: str
    requirements: tuple[str, ...] = ()
    sort: int = 100
    active: bool = True
    allowed: tuple[UUID, ...] | None = None
    reference: str = ""
    architectures: tuple[str, ...] = ()


def all_images(actor: Actor) -> QuerySet[Image]:
    """The platform's and all personal images, whether they can be chosen or not."""
    actor.require(Permission.PLATFORM_IMAGES_MANAGE)
    return Image.objects.select_related("organisation", "owner", "base").prefetch_related("allowed")


def get(actor: Actor, image_id: UUID) -> Image:
    image = all_images(actor).filter(pk=image_id).first()
    if image is None:
        raise NotFound
    return image


def create(actor: Actor, spec: ImageSpec) -> Image:
    """Add a platform image. Raises `Invalid` with the field at fault."""
    actor.require(Permission.PLATFORM_IMAGES_MANAGE)
    values = _checked(spec)
    with transaction.atomic():
        image = Image(key=f"platform-{uuid4().hex[:12]}", edited_at=Now(), **values)
        image.save()
        hold_image(image)
        image.allowed.set(Organisation.objects.filter(pk__in=spec.allowed or ()))
        _record(actor, image, "created", after={**values, **_allowed(image)})
        platforms.ask_soon(image.reference)
    return image


def update(actor: Actor, image_id: UUID, spec: ImageSpec) -> None:
    """Change an image for later starts; running work goes on. New product versions leave it alone from now on."""
    actor.require(Permission.PLATFORM_IMAGES_MANAGE)
    values = _checked(spec, image_id)
    with transaction.atomic():
        image = Image.objects.select_for_update().filter(pk=image_id, organisation__isnull=True).first()
        if image is None:
            raise NotFound
        before = {**{name: getattr(image, name) for name in FIELDS}, **_allowed(image)}
        image.allowed.set(Organisation.objects.filter(pk__in=spec.allowed or ()))
        after = {**values, **_allowed(image)}
        changed = [name for name in after if after[name] != before[name]]
        if not changed:
            return
        Image.objects.filter(pk=image_id).update(**values, edited_at=Now(), platforms_read_at=None)
        hold_image(Image(reference=values["reference"]))
        platforms.ask_soon(values["reference"])
        _record(
            actor,
            image,
            "changed",
            before={name: before[name] for name in changed},
            after={name: after[name] for name in changed},
        )


def withdraw(actor: Actor, image_id: UUID) -> None:
    """Withdraw a personal image from every picker; its users keep it. `Conflict` if it was withdrawn already."""
    image = get(actor, image_id)
    if image.organisation_id is None:
        raise NotFound
    with transaction.atomic():
        if not Image.objects.filter(pk=image_id, active=True).update(active=False):
            raise Conflict(_("This image is withdrawn already."))
        _record(actor, image, "withdrawn")


def _checked(spec: ImageSpec, image_id: UUID | None = None) -> dict[str, Any]:
    name = " ".join(spec.name.split())
    if not NAME.match(name):
        raise Invalid.field(
            "name",
            _("A name has up to 60 letters, digits, spaces, dots, :, - and _, and starts with a letter or digit."),
        )
    alike = Image.objects.filter(organisation__isnull=True, name__iexact=name)
    if alike.exclude(pk__in=[image_id] if image_id else []).exists():
        raise Invalid.field("name", _("Another image of the platform has this name."))
    if not 0 <= spec.sort <= MAX_SORT:
        raise Invalid.field("sort", _("Give a number between 0 and 32,767."))
    return {
        "name": name,
        "description_en": _description("description_en", spec.description_en),
        "description_zh": _description("description_zh", spec.description_zh),
        "requirements": _pins(spec.requirements),
        "reference": _reference(spec),
        "architectures": _architectures(spec.architectures),
        "sort": spec.sort,
        "active": spec.active,
        "restricted": _restricted(spec.allowed),
    }


def _description(name: str, text: str) -> str:
    cleaned = " ".join(text.split())
    if not 0 < len(cleaned) <= 200:
        raise Invalid.field(name, _("Say in up to 200 characters what is in it."))
    return cleaned


def _pins(requirements: Sequence[str]) -> list[str]:
    """Exact pins, one per package: two versions of one cannot both be installed."""
    seen: set[str] = set()
    for pin in requirements:
        name = normalize_package_name(pin.partition("==")[0])
        if PIN.match(pin) and name in seen:
            raise Invalid.field("requirements", _("%(name)s is named twice.") % {"name": name})
        seen.add(name)
    try:
        return merge_pins((), requirements)
    except Invalid as error:
        raise Invalid.field("requirements", error.message) from error


def _reference(spec: ImageSpec) -> str:
    """By its digest: what a tag names may be another image tomorrow."""
    text = spec.reference.strip()
    if not text:
        return ""
    try:
        Reference.parse(text)
    except ValueError as error:
        message = _("Name the image by registry and digest, as in registry.lab:5000/team/torch@sha256:<64 digits>.")
        raise Invalid.field("reference", message) from error
    if spec.requirements:
        raise Invalid.field("requirements", _("A container image has its packages inside: leave this empty."))
    return text


def _architectures(names: tuple[str, ...]) -> list[str]:
    if not set(names) <= set(Architecture.values):
        raise Invalid.field("architectures", _("Choose one of the architectures."))
    return sorted(set(names))


def _restricted(allowed: tuple[UUID, ...] | None) -> bool:
    if allowed is None:
        return False
    if not allowed:
        raise Invalid.field("allowed", _("Name at least one organisation, or take it off offer."))
    if Organisation.objects.filter(pk__in=allowed).count() != len(set(allowed)):
        raise Invalid.field("allowed", _("There is no organisation with this name."))
    return True


def _allowed(image: Image) -> dict[str, Any]:
    """Allowed organisations by short name, which is readable in the operation log."""
    return {"allowed": sorted(image.allowed.values_list("slug", flat=True))}


def _record(
    actor: Actor,
    image: Image,
    action: str,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    record(
        actor,
        action=f"image.{action}",
        target=Target("image", str(image.pk), image.name),
        organisation_id=image.organisation_id,
        before=before,
        after=after,
    )
