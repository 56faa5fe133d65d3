"""What pages show of image savings."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.registry.distribution.client import is_configured
from apps.registry.models import Image, ImageSaving
from apps.registry.saving.selectors import origins, repository_ids, sendings_of
from apps.registry.saving.words import problem_words, progress_words
from apps.workloads import kinds

MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Shown:
    """`repository_id`: where it went, if that is there. `work_kind`, `work_url`: of what was saved.

    Of an image that a machine kept: what it is, and its page.
    """

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


def kept_of(actor: Actor, image: Image) -> dict[str, Any]:
    """Of one that its machine keeps: `sendings` into the registry so far, and whether the actor may send it now."""
    if not image.reference or image.is_pushed or image.owner_id is None:
        return {"sendings": [], "may_send": False}
    sendings = shown(actor, sendings_of(image)[:MOST_SHOWN])
    is_busy = any(each.saving.is_open for each in sendings)
    is_mine = image.owner_id == actor.user_id and image.organisation_id == actor.organisation_id
    return {"sendings": sendings, "may_send": is_mine and is_configured() and not is_busy}


def _shown(actor: Actor, row: ImageSaving, repository_id: UUID | None) -> Shown:
    is_own = row.owner_id == actor.user_id
    if row.workload is None:
        kind, url = _("Image"), reverse("registry:detail", args=[row.kept_id])
    else:
        rules = kinds.kind_of(row.workload)
        kind, url = str(rules.label), reverse(rules.page, args=[row.workload_id])
    return Shown(
        saving=row,
        progress=progress_words(row),
        problem=problem_words(row),
        repository_id=repository_id,
        work_kind=kind,
        # A colleague's work may be theirs alone to see; what it became is not.
        work_url=url if is_own else "",
        is_mine=is_own,
    )
