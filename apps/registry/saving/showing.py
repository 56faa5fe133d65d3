"""What pages show of image savings."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from apps.common.actor import Actor
from apps.registry.models import Image, ImageSaving
from apps.registry.saving.selectors import origins, repository_ids
from apps.registry.saving.words import problem_words, progress_words
from apps.workloads import kinds


@dataclass(frozen=True, slots=True)
class Shown:
    """`repository_id`: where it went, if that is there. `work_kind`, `work_url`: of what was saved."""

    saving: ImageSaving
    progress: str
    problem: str
    repository_id: UUID | None
    work_kind: str
    work_url: str
    is_mine: bool


def shown(actor: Actor, savings: Iterable[ImageSaving]) -> list[Shown]:
    rows = list(savings)
    places = repository_ids(rows)
    return [_shown(actor, row, places.get(row.repository_name)) for row in rows]


def origins_of(actor: Actor, digests: Collection[str]) -> dict[str, Shown]:
    """By digest, of images that are work that was saved."""
    rows = origins(actor.organisation(), digests)
    return {each.saving.digest: each for each in shown(actor, rows.values())}


def origin_of(actor: Actor, image: Image) -> Shown | None:
    """Of one image on offer."""
    digest = image.reference.partition("@")[2]
    return origins_of(actor, [digest]).get(digest) if digest else None


def _shown(actor: Actor, row: ImageSaving, repository_id: UUID | None) -> Shown:
    rules = kinds.kind_of(row.workload)
    return Shown(
        saving=row,
        progress=progress_words(row),
        problem=problem_words(row),
        repository_id=repository_id,
        work_kind=str(rules.label),
        # A colleague's work may be theirs alone to see; what it became is not.
        work_url=reverse(rules.page, args=[row.workload_id]) if row.owner_id == actor.user_id else "",
        is_mine=row.owner_id == actor.user_id,
    )
