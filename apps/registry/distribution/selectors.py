"""Reading repositories."""

from collections.abc import Iterable
from typing import TypeVar
from uuid import UUID

from django.db.models import Count, Max, Model, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django_scopes import scopes_disabled

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.registry.distribution.uses import Use
from apps.registry.models import ImageManifest, ImageRepository, ImageTag
from apps.registry.sharing import rights

M = TypeVar("M", bound=Model)


def repositories(actor: Actor) -> QuerySet[ImageRepository]:
    """Those that the actor may pull from, the newest push first; all of the organisation for who manages its images.

    Also those that other organisations share with theirs.
    """
    own = Q(organisation_id=actor.organisation())
    if Permission.IMAGES_MANAGE not in actor.permissions:
        own &= Q(owner__isnull=True) | Q(owner_id=actor.user_id) | Q(shared=True)
    with scopes_disabled():  # the condition names what is not the organisation's own
        rows = ImageRepository.objects.filter(own | Q(pk__in=rights.received_ids(actor.organisation_id)))
        newest = ImageManifest.objects.filter(repository=OuterRef("pk")).order_by("-pushed_at").values("size")[:1]
    return (
        rows.select_related("owner", "organisation")
        .annotate(
            tag_count=Count("tags", distinct=True), size=Coalesce(Subquery(newest), 0), last=Max("tags__pushed_at")
        )
        .order_by("-pushed_at", "name")
    )


def arrivals(actor: Actor, rows: QuerySet[M]) -> QuerySet[M]:
    """Of what is brought into the registry: one's own, and all of the organisation for who manages its images.

    The newest first.
    """
    found = rows.filter(organisation_id=actor.organisation())
    if Permission.IMAGES_MANAGE not in actor.permissions:
        found = found.filter(owner_id=actor.user_id)
    return found.order_by("-created_at", "-pk")


def repository_of(actor: Actor, repository_id: UUID) -> ImageRepository:
    """Raises `NotFound` for one that the actor may not pull from."""
    found: ImageRepository | None = repositories(actor).filter(pk=repository_id).first()
    if found is None:
        raise NotFound
    return found


def tags(repository: ImageRepository) -> QuerySet[ImageTag]:
    """Of a repository that the reader may pull from. The newest first."""
    with scopes_disabled():
        rows = ImageTag.objects.filter(repository=repository)
    return rows.select_related("manifest", "pushed_by").order_by("-pushed_at", "name")


def _manifests(repository: ImageRepository) -> QuerySet[ImageManifest]:
    with scopes_disabled():
        return ImageManifest.objects.filter(repository=repository)


def versions(repository: ImageRepository) -> QuerySet[ImageManifest]:
    """The newest first. Without the images of an index, which go with it, unless a tag leads to them."""
    inside = {digest for row in _manifests(repository).exclude(children=[]) for digest in row.children}
    rows = _manifests(repository).exclude(Q(digest__in=inside) & Q(tags__isnull=True))
    named = Prefetch("tags", queryset=tags(repository))
    return rows.select_related("pushed_by").prefetch_related(named).order_by("-pushed_at", "digest").distinct()


def by_version(repository: ImageRepository, found: Iterable[Use]) -> dict[str, list[Use]]:
    """Who needs which digest. Who pins an image of an index needs the index's version, too."""
    parents: dict[str, list[str]] = {}
    for row in _manifests(repository).exclude(children=[]):
        for digest in row.children:
            parents.setdefault(digest, []).append(row.digest)
    named: dict[str, list[Use]] = {}
    for use in found:
        for digest in (use.digest, *parents.get(use.digest, ())):
            named.setdefault(digest, []).append(use)
    return named


def is_ours(actor: Actor, repository: ImageRepository) -> bool:
    """Whether it belongs to the organisation that the actor acts in, and is not one that it receives."""
    return repository.organisation_id == actor.organisation_id


def may_change(actor: Actor, repository: ImageRepository) -> bool:
    """Whether the actor may delete its tags, and share it with other organisations."""
    owns = repository.owner_id == actor.user_id or Permission.IMAGES_MANAGE in actor.permissions
    return owns and is_ours(actor, repository)
