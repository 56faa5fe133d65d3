"""Who needs an image of the registry, so that it stays: work, passports, environments, replicas, images on offer.

The apps of kinds of work stand above this one, so `settings.IMAGE_USES` names who else finds them.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django_scopes import scopes_disabled

from apps.common.actor import Actor
from apps.registry.models import Image, ImageManifest, ImageRepository
from apps.workloads import kinds
from apps.workloads.choices import LIVE
from apps.workloads.models import ReplicaSet, Workload
from apps.workloads.references import Reference

MOST = 20
"""Uses of one sort that are named; who hears of twenty needs no more."""


@dataclass(frozen=True, slots=True)
class Images:
    """Images of one repository. `repository`: with its registry's host, as specifications name it."""

    repository: str
    digests: frozenset[str]

    @property
    def references(self) -> list[str]:
        return [f"{self.repository}@{digest}" for digest in self.digests]


@dataclass(frozen=True, slots=True)
class Use:
    """`kind` in words, `name` and `url` of the thing, `owner` as people call them; None for the platform's own."""

    kind: str
    name: str
    digest: str
    url: str = ""
    owner: str = ""
    organisation_id: UUID | None = None


FindUses: TypeAlias = Callable[[Images], list[Use]]
"""What of one sort needs one of these images, of whichever organisation; the newest `MOST`."""


def images_of(repository: str, digests: Collection[str]) -> Images:
    return Images(f"{settings.REGISTRY_HOST}/{repository}", frozenset(digests))


def uses_of(images: Images) -> list[Use]:
    """Everything that needs one of them, of whichever organisation: for `shown_to` before people read it."""
    if not images.digests:
        return []
    finders: list[FindUses] = [_live, _replicas, _on_offer, _saved, *map(import_string, settings.IMAGE_USES)]
    with scopes_disabled():
        return [use for find in finders for use in find(images)]


def shown_to(actor: Actor, uses: list[Use]) -> list[Use]:
    """As the actor may read them: what other organisations do is not theirs to know, only that somebody needs it."""
    ours = [use for use in uses if use.organisation_id in (actor.organisation_id, None)]
    hidden = {use.digest for use in uses if use.organisation_id not in (actor.organisation_id, None)}
    return [*ours, *(Use(_("Work of another organisation"), "", digest) for digest in sorted(hidden))]


def shown_of(actor: Actor, repository: ImageRepository, uses: list[Use]) -> list[Use]:
    """`shown_to` on the repository's page: who uses it elsewhere is for its own organisation alone to know."""
    if repository.organisation_id == actor.organisation_id:
        return shown_to(actor, uses)
    return [use for use in uses if use.organisation_id == actor.organisation_id]


def indexes_with(repository: ImageRepository, digest: str) -> QuerySet[ImageManifest]:
    """The indexes that name it as one of their images."""
    return repository.manifests.filter(children__contains=[digest])


def family(repository: ImageRepository, digest: str) -> set[str]:
    """The digest and those of indexes that name it: who pins one of these needs it."""
    return {digest, *indexes_with(repository, digest).values_list("digest", flat=True)}


def pinned(images: Images, column: str = "spec") -> Q:
    """Rows whose frozen specification pins one of the images."""
    return Q(**{
        f"{column}__image__repository": images.repository,
        f"{column}__image__digest__in": sorted(images.digests),
    })  # fmt: skip


def _live(images: Images) -> list[Use]:
    any_stage = Q()
    for digest in sorted(images.digests):
        stage = [{"image": {"repository": images.repository, "digest": digest}}]
        any_stage |= Q(spec__stages__contains=stage)
    rows = Workload.objects.filter(pinned(images) | any_stage, status__in=sorted(LIVE)).select_related("owner")
    return [use for workload in rows.order_by("-created_at")[:MOST] for use in _uses_by(workload, images)]


def _uses_by(workload: Workload, images: Images) -> list[Use]:
    """One for each of the images that it needs: a build takes files of several."""
    rules = kinds.kind_of(workload)
    page, owner = reverse(rules.page, args=[workload.pk]), workload.owner.display_name
    references = [image for image in workload.frozen_spec.images if isinstance(image, Reference)]
    pins = {image.digest for image in references if image.repository == images.repository}
    return [
        Use(str(rules.label), workload.name, digest, page, owner, workload.organisation_id)
        for digest in sorted(pins & images.digests)
    ]


def _replicas(images: Images) -> list[Use]:
    rows = ReplicaSet.objects.filter(pinned(images), ended_at__isnull=True).select_related("owner")
    return [
        Use(
            _("Set of replicas"), each.name, each.spec["image"]["digest"], "", each.owner.display_name,
            each.organisation_id,
        )
        for each in rows.order_by("-created_at")[:MOST]
    ]  # fmt: skip


def _on_offer(images: Images) -> list[Use]:
    """Images that the platform offers: to whom, is not for everybody to know."""
    rows = Image.objects.filter(active=True, organisation__isnull=True, reference__in=images.references)
    return [Use(_("Image of the platform"), each.name, _digest(each)) for each in rows.order_by("name")[:MOST]]


def _saved(images: Images) -> list[Use]:
    """Images that people saved from work in one of these: their lower layers are its."""
    rows = Image.objects.filter(active=True, base__reference__in=images.references).exclude(reference="")
    return [
        Use(
            _("Image saved from it"), each.name, _digest(each.base), "",
            each.owner.display_name if each.owner else "", each.organisation_id,
        )
        for each in rows.select_related("owner", "base").order_by("-created_at")[:MOST]
        if each.base is not None
    ]  # fmt: skip


def _digest(image: Image) -> str:
    return image.reference.partition("@")[2]
