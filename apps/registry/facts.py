"""What the list and the page of images say of them beside their rows: size, and when they last ran."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Max, Q
from django.db.models.fields.json import KT
from django_scopes import get_scope, scopes_disabled

from apps.common.clock import db_now_within
from apps.registry.models import Image, ImageManifest
from apps.registry.recipes.catalogue import find
from apps.registry.recipes.recipe import Recipe
from apps.registry.sharing import rights
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from apps.workloads.references import Reference

MEMORY = timedelta(days=90)
"""How far back is looked: it bounds what is read, and an image that has not run since is a stranger here anyway."""


@dataclass(frozen=True, slots=True)
class Facts:
    """`size`: in bytes, of a container image all layers, of a recipe what is downloaded; None where nobody knows.

    `last_run`: when work in it last started, as far as the scope reaches; None if not within `MEMORY`. `running`: how
    much of it runs now. `recipe`: what the image is made by, unless administrators changed its packages.
    """

    size: int | None = None
    last_run: datetime | None = None
    running: int = 0
    recipe: Recipe | None = None


def facts_of(images: Iterable[Image]) -> dict[UUID, Facts]:
    """By id, in two statements however many there are. Within the scope: another organisation's runs are not seen."""
    images = list(images)
    sizes, runs = _sizes(images), _runs(images)
    found = {}
    for image in images:
        recipe, (last_run, running) = recipe_of(image), runs.get(_name(image), (None, 0))
        size = sizes.get(_name(image))
        if recipe is not None and recipe.download_mb:
            size = recipe.download_bytes
        found[image.pk] = Facts(size, last_run, running, recipe)
    return found


def recipe_of(image: Image) -> Recipe | None:
    """None for images that are no recipe, or hold other packages since administrators changed them."""
    recipe = find(image.key) if image.organisation_id is None else None
    return recipe if recipe is not None and list(recipe.requirements) == image.requirements else None


def _name(image: Image) -> str:
    """What specifications have it under: the digest of a container image, else the key."""
    return Reference.parse(image.reference).digest if image.reference else image.key


def _runs(images: list[Image]) -> dict[str, tuple[datetime | None, int]]:
    names = [_name(image) for image in images]
    rows = (
        Workload.objects.filter(created_at__gte=db_now_within() - MEMORY, started_at__isnull=False)
        .annotate(image_key=KT("spec__image__name"), image_digest=KT("spec__image__digest"))
        .filter(Q(image_key__in=names) | Q(image_digest__in=names))
        .exclude(spec__simulated=True)
        .order_by()
        .values("image_key", "image_digest")
        .annotate(last=Max("started_at"), running=Count("pk", filter=Q(status=Status.RUNNING)))
    )
    return {row["image_digest"] or row["image_key"]: (row["last"], row["running"]) for row in rows}


def _sizes(images: list[Image]) -> dict[str, int]:
    digests = [_name(image) for image in images if image.reference]
    if not digests:
        return {}
    rows, reader = ImageManifest.objects.filter(digest__in=digests), get_scope().get("organisation")
    if reader is not None:
        with scopes_disabled():  # what other organisations share with the reader's
            rows |= ImageManifest.objects.filter(digest__in=digests, repository_id__in=rights.received_ids(reader))
    return dict(rows.values_list("digest", "size"))
