"""Images, found by name: those one may choose, or in the console all of them."""

from urllib.parse import urlencode

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission
from apps.registry import ruling, selectors
from apps.registry.models import Image


def _rows(actor: Actor) -> QuerySet[Image]:
    return ruling.all_images(actor) if actor.platform else selectors.images(actor)


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    if actor.platform:
        return row["name"], row["organisation__name"] or row["key"], reverse("console:image", args=[row["pk"]])
    return row["name"], row["key"], f"{reverse('registry:list')}?{urlencode({'q': row['name']})}"


IMAGES = Source(
    name="images",
    label=_("Images"),
    icon="versions",
    portal=Permission.IMAGES_USE,
    console=Permission.PLATFORM_IMAGES_MANAGE,
    find=Rows(rows=_rows, hit=_hit, fields=("name", "key"), more=("organisation__name",), owner="owner_id"),
)
