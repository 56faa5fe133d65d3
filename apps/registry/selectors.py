"""Reading images."""

from uuid import UUID

from django.db.models import Case, Q, QuerySet, When
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.registry.models import Image
from apps.registry.sharing import rights


def images(actor: Actor, *, containers: bool = False) -> QuerySet[Image]:
    """Every image that the actor may choose, in the order of the picker: the platform's, own ones, shared ones.

    Those are shared by colleagues, or by other organisations.

    `containers`: also container images, for work that needs nothing beside them.
    """
    kinds = {} if containers else {"reference": ""}
    platform = Q(organisation__isnull=True)
    if actor.organisation_id is None:
        return Image.objects.filter(platform, restricted=False, active=True, **kinds)
    permitted = Image.allowed.through.objects.filter(organisation_id=actor.organisation_id).values("image_id")
    offered = platform & (Q(restricted=False) | Q(pk__in=permitted))
    inside = Q(organisation_id=actor.organisation_id) & (Q(owner_id=actor.user_id) | Q(shared=True))
    received = Q(repository_id__in=rights.received_ids(actor.organisation_id))
    rows = Image.objects.filter(offered | inside | received, active=True, **kinds)
    return rows.select_related("owner", "organisation")


def images_own_first(actor: Actor) -> QuerySet[Image]:
    """`images` of both kinds, with the actor's own first."""
    own_ones = Case(When(owner_id=actor.user_id, then=0), default=1)
    return images(actor, containers=True).order_by(own_ones, "sort", "name", "pk")


def own_images(actor: Actor) -> QuerySet[Image]:
    """The actor's personal images, newest first."""
    rows = Image.objects.filter(active=True, organisation_id=actor.organisation(), owner_id=actor.user_id)
    return rows.select_related("base").order_by("-created_at")


def get(actor: Actor, image_id: UUID) -> Image:
    """One that the actor may choose; `NotFound` otherwise."""
    image = images(actor, containers=True).select_related("owner", "base").filter(pk=image_id).first()
    if image is None:
        raise NotFound
    return image


def is_unshared(actor: Actor, image: Image) -> bool:
    """Whether it is another organisation's, which does not share it with the actor's any more."""
    foreign = image.organisation_id not in (None, actor.organisation_id)
    return foreign and not images(actor, containers=True).filter(pk=image.pk).exists()


def refuse_unshared(actor: Actor, image: Image) -> None:
    """Raise `Invalid` for what was to start again in an image of which `is_unshared` is true."""
    if is_unshared(actor, image):
        message = _("Its container image is not shared with your organisation any more.")
        raise Invalid.field("image", message, hint=_("Clone it and choose another image."))


def choosable_image(actor: Actor, image_id: UUID, *, containers: bool = False) -> Image:
    image = images(actor, containers=containers).filter(pk=image_id).first()
    if image is None:
        raise Invalid.field("image", _("Choose one of the images."))
    return image
