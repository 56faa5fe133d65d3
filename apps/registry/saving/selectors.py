"""Reading image savings: one's own, and for who manages the organisation's images all of them."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Right

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.registry.choices import OPEN_SAVINGS, SavingStatus
from apps.registry.distribution.selectors import arrivals
from apps.registry.models import PUSHED, Image, ImageRepository, ImageSaving
from apps.registry.repositories import MAX_DIGEST
from apps.registry.selectors import own_images
from apps.workloads.models import Workload


def savings(actor: Actor) -> QuerySet[ImageSaving]:
    """The newest first."""
    return arrivals(actor, ImageSaving.objects.select_related("owner", "workload", "kept"))


def saving_of(actor: Actor, saving_id: UUID) -> ImageSaving:
    """Raises `NotFound`."""
    found: ImageSaving | None = savings(actor).filter(pk=saving_id).first()
    if found is None:
        raise NotFound
    return found


def savings_of(organisation_id: UUID, workloads: QuerySet[Workload]) -> QuerySet[ImageSaving]:
    """What these were saved as, the newest first, for a page that shows the work itself."""
    rows: QuerySet[ImageSaving] = ImageSaving.objects.filter(organisation_id=organisation_id)
    rows = rows.filter(workload__in=workloads.order_by().values("pk"))
    return rows.select_related("owner", "workload").order_by("-created_at", "-pk")


def origins(organisation_id: UUID, digests: Collection[str]) -> dict[str, ImageSaving]:
    """By digest, of those that are work that was saved: from what, the first time."""
    rows = ImageSaving.objects.filter(organisation_id=organisation_id, status=SavingStatus.SUCCEEDED)
    rows = rows.filter(workload__isnull=False)
    found: dict[str, ImageSaving] = {}
    ours = rows.annotate(of=Right("image", MAX_DIGEST)).filter(of__in=digests)
    for row in ours.select_related("owner", "workload").order_by("-created_at"):
        found[row.digest] = row
    return found


def kept_images(actor: Actor) -> QuerySet[Image]:
    """The actor's own that a machine keeps: they were saved, or built, while there was no registry."""
    return own_images(actor).exclude(reference="").exclude(key__startswith=PUSHED)


def kept_image(actor: Actor, image_id: UUID) -> Image:
    """One of `kept_images`. Raises `NotFound`."""
    found: Image | None = kept_images(actor).filter(pk=image_id).first()
    if found is None:
        raise NotFound
    return found


def left_to_send(actor: Actor) -> QuerySet[Image]:
    """Of `kept_images`, those that are neither in the registry nor on their way there."""
    done = ImageSaving.objects.filter(kept__isnull=False, status__in=sorted(OPEN_SAVINGS | {SavingStatus.SUCCEEDED}))
    return kept_images(actor).exclude(pk__in=done.values("kept_id"))


def open_sending(image: Image) -> ImageSaving | None:
    """Of an image that its machine keeps: what brings it into the registry now."""
    found: ImageSaving | None = ImageSaving.objects.filter(kept=image, status__in=sorted(OPEN_SAVINGS)).first()
    return found


def sendings_of(image: Image) -> QuerySet[ImageSaving]:
    """What brought it into the registry, or tried to, the newest first. Who may see the image may see these."""
    rows: QuerySet[ImageSaving] = ImageSaving.objects.filter(kept=image).select_related("owner", "workload", "kept")
    return rows.order_by("-created_at", "-pk")


def due() -> list[UUID]:
    """All that somebody has to work on now, the oldest first. Call in the platform's scope."""
    rows = ImageSaving.objects.filter(status__in=sorted(OPEN_SAVINGS), due_at__lte=db_now())
    return list(rows.order_by("created_at").values_list("pk", flat=True)[:100])


def repository_ids(savings: Collection[ImageSaving]) -> dict[str, UUID]:
    """Where they went, by name, as far as it is there."""
    names = {each.repository_name for each in savings}
    return dict(ImageRepository.objects.filter(name__in=names).values_list("name", "pk"))
