"""Who uses an image: environments that were not deleted, and training runs."""

from collections import defaultdict
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.envs.models import Environment
from apps.registry.models import Image
from apps.tenants.models import Organisation
from apps.training.models import Run


@dataclass(slots=True)
class Use:
    """One organisation's use of an image."""

    organisation: Organisation
    environments: int = 0
    runs: int = 0
    owners: set[int] = field(default_factory=set)

    @property
    def people(self) -> int:
        return len(self.owners)


def with_uses(rows: QuerySet[Image]) -> QuerySet[Image]:
    """Each image with how many `environments` and `runs` use it."""
    return rows.annotate(environments=_count(Environment, deleted_at__isnull=True), runs=_count(Run))


def _count(model: type[Environment] | type[Run], **which: object) -> Coalesce:
    found = model.objects.filter(image_id=OuterRef("pk"), **which).order_by().values("image_id")
    return Coalesce(Subquery(found.annotate(number=Count("pk")).values("number"), output_field=IntegerField()), 0)


def uses(actor: Actor, image: Image) -> list[Use]:
    """By organisation, in the order of their names."""
    actor.require(Permission.PLATFORM_IMAGES_MANAGE)
    environments = _by_owner(Environment.objects.filter(image=image, deleted_at__isnull=True))
    runs = _by_owner(Run.objects.filter(image=image))
    organisations = Organisation.objects.in_bulk({key[0] for key in (*environments, *runs)})
    found = {key: Use(row) for key, row in organisations.items()}
    for (organisation_id, owner_id), number in environments.items():
        found[organisation_id].environments += number
        found[organisation_id].owners.add(owner_id)
    for (organisation_id, owner_id), number in runs.items():
        found[organisation_id].runs += number
        found[organisation_id].owners.add(owner_id)
    return sorted(found.values(), key=lambda use: use.organisation.name.casefold())


def _by_owner(rows: QuerySet[Environment] | QuerySet[Run]) -> dict[tuple[UUID, int], int]:
    counts: dict[tuple[UUID, int], int] = defaultdict(int)
    grouped = rows.order_by().values_list("organisation_id", "owner_id").annotate(number=Count("pk"))
    for organisation_id, owner_id, number in grouped:
        counts[organisation_id, owner_id] = number
    return counts
