"""Reading transfers: one's own, and for who manages the organisation's images all of them."""

from uuid import UUID

from django.db.models import QuerySet

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.registry.choices import WORKED_ON
from apps.registry.distribution.selectors import arrivals
from apps.registry.models import ImageRepository, ImageTransfer


def transfers(actor: Actor) -> QuerySet[ImageTransfer]:
    """The newest first."""
    return arrivals(actor, ImageTransfer.objects.select_related("owner", "archive"))


def transfer_of(actor: Actor, transfer_id: UUID) -> ImageTransfer:
    """Raises `NotFound`."""
    found: ImageTransfer | None = transfers(actor).filter(pk=transfer_id).first()
    if found is None:
        raise NotFound
    return found


def due() -> QuerySet[ImageTransfer]:
    """All that somebody has to work on, the oldest first. Call in the platform's scope."""
    return ImageTransfer.objects.filter(status__in=sorted(WORKED_ON)).order_by("created_at")


def repository_id_of(transfer: ImageTransfer) -> UUID | None:
    """Where it went, once it is there."""
    rows = ImageRepository.objects.filter(name=transfer.repository_name)
    found: UUID | None = rows.values_list("pk", flat=True).first()
    return found
