"""What the platform's administrators decide about images: which of the platform are on offer, and to whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.registry.models import Image
from apps.registry.services import NAME, PIN, canonical, merged
from apps.tenants.models import Organisation

MAX_SORT = 32_767
FIELDS = ("name", "description_en", "description_zh", "requirements", "sort", "active", "restricted")


@dataclass(frozen=True, slots=True)
class ImageSpec:
    """An image of the platform. `requirements`: exact pins. `allowed`: ids of organisations, None for every one."""

    name: str
    description_en: str
    description_zh: str
    requirements: tuple[str, ...] = ()
    sort: int = 100
    active: bool = True
    allowed: tuple[UUID, ...] | None = None


def all_images(actor: Actor) -> QuerySet[Image]:
    """The platform's and everybody's own, whether they can be chosen or not."""
    actor.require(Permission.PLATFORM_IMAGES_MANAGE)
    return Image.objects.select_related("organisation", "owner", "base").prefetch_related("allowed")


def get(actor: Actor, image_id: UUID) -> Image:
    image = all_images(actor).filter(pk=image_id).first()
    if image is None:
        raise NotFound
    return image


def create(actor: Actor, spec: ImageSpec) -> Image:
    """One more image of the platform. Raises `Invalid` with the field at fault."""
    actor.require(Permission.PLATFORM_IMAGES_MANAGE)
    values = _checked(spec)
    with transaction.atomic():
        image = Image(key=f"platform-{uuid4().hex[:12]}", edited_at=Now(), **values)
        image.save()
        image.allowed.set(Organisation.objects.filter(pk__in=spec.allowed or ()))
        _record(actor, image, "created", after={**values, **_allowed(image)})
    return image


def update(actor: Actor, image_id: UUID, spec: ImageSpec) -> None:
    """What starts from now on gets it as it is now; what runs goes on. From here it keeps what administrators chose."""
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
        Image.objects.filter(pk=image_id).update(**values, edited_at=Now())
        _record(
            actor,
            image,
            "changed",
            before={name: before[name] for name in changed},
            after={name: after[name] for name in changed},
        )


def withdraw(actor: Actor, image_id: UUID) -> None:
    """A personal image, out of every picker; what uses it goes on with it. `Conflict` where it is gone already."""
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
    """Each exact, each package once: two versions of one cannot both be installed."""
    seen: set[str] = set()
    for pin in requirements:
        name = canonical(pin.partition("==")[0])
        if PIN.match(pin) and name in seen:
            raise Invalid.field("requirements", _("%(name)s is named twice.") % {"name": name})
        seen.add(name)
    try:
        return merged((), requirements)
    except Invalid as error:
        raise Invalid.field("requirements", error.message) from error


def _restricted(allowed: tuple[UUID, ...] | None) -> bool:
    if allowed is None:
        return False
    if not allowed:
        raise Invalid.field("allowed", _("Name at least one organisation, or take it off offer."))
    if Organisation.objects.filter(pk__in=allowed).count() != len(set(allowed)):
        raise Invalid.field("allowed", _("There is no organisation with this name."))
    return True


def _allowed(image: Image) -> dict[str, Any]:
    """By short name: that is what one can read in the operation log."""
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
