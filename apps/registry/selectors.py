"""Reading images."""

from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.registry.models import Image


def images(actor: Actor) -> QuerySet[Image]:
    """Every image that the actor may choose, in the order of the picker."""
    return Image.objects.filter(active=True)


def choose(actor: Actor, image_id: UUID) -> Image:
    image = images(actor).filter(pk=image_id).first()
    if image is None:
        raise Invalid.field("image", _("Choose one of the images."))
    return image
