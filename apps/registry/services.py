"""Images that people keep: made of a platform image and what they added to it."""

import re
from collections.abc import Sequence
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission
from apps.registry.models import Image

NAME = re.compile(r"[\w][\w .:\-]{0,59}\Z")
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]*==[A-Za-z0-9][A-Za-z0-9.!+_\-]*\Z")
MAX_REQUIREMENTS = 500
PERSONAL_SORT = 1000


def keep(actor: Actor, *, name: str, base: Image, added: Sequence[str], shared: bool = False) -> Image:
    """A personal image: `base` with the exact pins `added` on top (they win over the base's). Raises `Invalid`."""
    actor.require(Permission.IMAGES_USE)
    cleaned = " ".join(name.split())
    if not NAME.match(cleaned):
        raise Invalid.field(
            "name",
            _("A name has up to 60 letters, digits, spaces, dots, :, - and _, and starts with a letter or digit."),
        )
    requirements = merged(base.requirements, added)
    with transaction.atomic():
        image = Image.objects.create(
            key=f"own-{uuid4().hex[:12]}",
            name=cleaned,
            description_en=f"{base.name} + {len(added)}",
            description_zh=f"{base.name} + {len(added)}",
            requirements=requirements,
            sort=PERSONAL_SORT,
            organisation_id=actor.organisation(),
            owner_id=actor.person(),
            shared=shared,
            base=base.base or base,
        )
        _record(actor, image, "created", after={"base": base.key, "added": len(added), "shared": shared})
    return image


def merged(base: Sequence[str], added: Sequence[str]) -> list[str]:
    """Pins by package name; `added` wins. Raises `Invalid` for anything that is no exact pin."""
    refused = [pin for pin in added if not PIN.match(pin)]
    if refused:
        raise Invalid(_("These are no exact versions: %(names)s") % {"names": ", ".join(refused[:5])})
    pins = {canonical(pin.partition("==")[0]): pin for pin in (*base, *added)}
    if len(pins) > MAX_REQUIREMENTS:
        raise Invalid(_("An image has 500 packages at most."))
    return list(pins.values())


def canonical(name: str) -> str:
    """As PEP 503 compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def share(actor: Actor, image: Image, *, shared: bool) -> None:
    """With everybody in the organisation, or with nobody any more."""
    _require_own(actor, image)
    Image.objects.filter(pk=image.pk).update(shared=shared)
    _record(actor, image, "shared" if shared else "unshared")


def remove(actor: Actor, image: Image) -> None:
    """Out of the picker; what uses it goes on with it."""
    _require_own(actor, image)
    Image.objects.filter(pk=image.pk).update(active=False)
    _record(actor, image, "removed")


def get_own(actor: Actor, image_id: UUID) -> Image:
    """A personal image that the actor may change; `NotFound` otherwise."""
    image = Image.objects.filter(pk=image_id, active=True, owner__isnull=False).first()
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
