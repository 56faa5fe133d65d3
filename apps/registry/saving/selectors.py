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
from apps.registry.models import ImageRepository, ImageSaving
from apps.registry.repositories import MAX_DIGEST
from apps.workloads.models import Workload


def savings(actor: Actor) -> QuerySet[ImageSaving]:
    """The newest first."""
    return arrivals(actor, ImageSaving.objects.select_related("owner", "workload"))


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
    found: dict[str, ImageSaving] = {}
    ours = rows.annotate(of=Right("image", MAX_DIGEST)).filter(of__in=digests)
    for row in ours.select_related("owner", "workload").order_by("-created_at"):
        found[row.digest] = row
    return found


def due() -> list[UUID]:
    """All that somebody has to work on now, the oldest first. Call in the platform's scope."""
    rows = ImageSaving.objects.filter(status__in=sorted(OPEN_SAVINGS), due_at__lte=db_now())
    return list(rows.order_by("created_at").values_list("pk", flat=True)[:100])


def repository_ids(savings: Collection[ImageSaving]) -> dict[str, UUID]:
    """Where they went, by name, as far as it is there."""
    names = {each.repository_name for each in savings}
    return dict(ImageRepository.objects.filter(name__in=names).values_list("name", "pk"))
