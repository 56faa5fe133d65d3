"""Personal images: a platform image and the packages that a person added to it, or a container image and one layer."""

import re
from collections.abc import Sequence
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.registry.models import PUSHED, Image
from apps.workloads.references import Reference

NAME = re.compile(r"[\w][\w .:\-]{0,59}\Z")
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]*==[A-Za-z0-9][A-Za-z0-9.!+_\-]*\Z")
MAX_REQUIREMENTS = 500
PERSONAL_SORT = 1000
MOST_CONTAINERS = 20
"""Of a person: each holds the files of its layer on a machine."""


def create_personal_image(actor: Actor, *, name: str, base: Image, added: Sequence[str], shared: bool = False) -> Image:
    """A personal image: `base` plus the exact pins `added`, which override the base's. Raises `Invalid`."""
    actor.require(Permission.IMAGES_USE)
    cleaned, requirements = clean_name(name), merge_pins(base.requirements, added)
    about = f"{base.name} + {len(added)}"
    return _create(actor, cleaned, base, about, shared, {"added": len(added)}, requirements=requirements)


def refuse_container_image(actor: Actor, *, name: str) -> None:
    """What `create_container_image` would refuse, before the image is made. Raises `Invalid`, `Conflict`."""
    actor.require(Permission.IMAGES_USE)
    clean_name(name)
    own = Image.objects.filter(organisation_id=actor.organisation(), owner_id=actor.person(), active=True)
    if own.exclude(reference="").count() >= MOST_CONTAINERS:
        words = _("You have %(count)s container images of your own already.") % {"count": MOST_CONTAINERS}
        raise Conflict(words, hint=_("Remove one that is not used any more."))


def create_container_image(
    actor: Actor, *, name: str, base: Image, reference: Reference, shared: bool = False
) -> Image:
    """A personal image that a run in the container image `base` was saved as. Raises `Invalid`, `Conflict`."""
    refuse_container_image(actor, name=name)
    about = f"{base.name} + 1"
    return _create(actor, clean_name(name), base, about, shared, {"digest": reference.digest}, reference=reference.name)


def clean_name(name: str) -> str:
    """Raises `Invalid`."""
    cleaned = " ".join(name.split())
    if not NAME.match(cleaned):
        raise Invalid.field(
            "name",
            _("A name has up to 60 letters, digits, spaces, dots, :, - and _, and starts with a letter or digit."),
        )
    return cleaned


def _create(
    actor: Actor, name: str, base: Image, about: str, shared: bool, noted: dict[str, object], **values: object
) -> Image:
    with transaction.atomic():
        image: Image = Image.objects.create(
            key=f"own-{uuid4().hex[:12]}",
            name=name,
            description_en=about[:200],
            description_zh=about[:200],
            architectures=base.architectures,
            sort=PERSONAL_SORT,
            organisation_id=actor.organisation(),
            owner_id=actor.person(),
            shared=shared,
            base=base.base or base,
            **values,
        )
        _record(actor, image, "created", after={"base": base.key, **noted, "shared": shared})
    return image


def merge_pins(base: Sequence[str], added: Sequence[str]) -> list[str]:
    """Merge pins by package name; `added` wins. Raises `Invalid` for anything but an exact pin."""
    refused = [pin for pin in added if not PIN.match(pin)]
    if refused:
        raise Invalid(_("These are no exact versions: %(names)s") % {"names": ", ".join(refused[:5])})
    pins = {normalize_package_name(pin.partition("==")[0]): pin for pin in (*base, *added)}
    if len(pins) > MAX_REQUIREMENTS:
        raise Invalid(_("An image has 500 packages at most."))
    return list(pins.values())


def normalize_package_name(name: str) -> str:
    """The normalised name, as in PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def share(actor: Actor, image: Image, *, shared: bool) -> None:
    """Share it with everybody in the organisation, or stop sharing it."""
    _require_own(actor, image)
    Image.objects.filter(pk=image.pk).update(shared=shared)
    _record(actor, image, "shared" if shared else "unshared")


def remove(actor: Actor, image: Image) -> None:
    """Remove it from the picker; its users keep it."""
    _require_own(actor, image)
    Image.objects.filter(pk=image.pk).update(active=False)
    _record(actor, image, "removed")


def get_own(actor: Actor, image_id: UUID) -> Image:
    """A personal image that the actor may change; `NotFound` otherwise."""
    image = Image.objects.filter(pk=image_id, active=True, owner__isnull=False).exclude(key__startswith=PUSHED).first()
    if image is None:
        raise NotFound
    _require_own(actor, image)
    return image


def _require_own(actor: Actor, image: Image) -> None:
    inside = image.organisation_id is not None and image.organisation_id == actor.organisation_id
    if not inside or image.owner_id != actor.user_id:
        raise NotFound
    actor.require(Permission.IMAGES_USE)


def _record(actor: Actor, image: Image, action: str, after: dict[str, object] | None = None) -> None:
    target = Target("image", str(image.pk), image.name)
    record(actor, action=f"image.{action}", target=target, organisation_id=image.organisation_id, after=after)
