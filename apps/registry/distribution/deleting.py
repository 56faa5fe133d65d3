"""Deleting from the registry: a tag, a version (one digest with its tags), a repository with all of them.

What somebody needs (`uses`) stays: a version and a repository are refused, a tag goes and leaves its image behind.
Blobs stay until the next collection (`collecting`).
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor, Channel, system_actor
from apps.common.errors import Conflict, Denied, NotFound
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.registry.distribution import holding, offering, recording, uses
from apps.registry.distribution.client import Client, RegistryAway
from apps.registry.distribution.selectors import may_change, repository_of
from apps.registry.distribution.uses import Use
from apps.registry.models import DeletedManifest, ImageManifest, ImageRepository, ImageTag
from apps.tenants.actors import organisation_actor
from apps.tenants.models import User
from apps.workloads.drivers.local.oci import manifest as oci

NAMED = 5


class InUse(Conflict):
    """Somebody needs it. `uses`: who, as the actor may read it."""

    code = "image_in_use"

    def __init__(self, found: list[Use]) -> None:
        self.uses = found
        named = ", ".join(f"{use.kind} {use.name}".strip() for use in found[:NAMED])
        more = _(" and more") if len(found) > NAMED else ""
        super().__init__(
            _("It is still needed: %(names)s.") % {"names": f"{named}{more}"},
            hint=_("It can be deleted once nothing needs it. A tag can be deleted at any time: its image stays."),
        )


def tag_of(actor: Actor, tag_id: UUID) -> ImageTag:
    """A tag that the actor may delete; `NotFound` otherwise."""
    tag: ImageTag | None = ImageTag.objects.select_related("repository", "manifest").filter(pk=tag_id).first()
    if tag is None:
        raise NotFound
    changeable(actor, tag.repository_id)
    return tag


def version_of(actor: Actor, repository_id: UUID, digest: str) -> ImageManifest:
    """A version that the actor may delete; `NotFound` otherwise."""
    repository = changeable(actor, repository_id)
    found: ImageManifest | None = repository.manifests.filter(digest=digest).first()
    if found is None:
        raise NotFound
    return found


def changeable(actor: Actor, repository_id: UUID) -> ImageRepository:
    """A repository that the actor may delete; `NotFound` otherwise."""
    actor.require(Permission.IMAGES_USE)
    repository = repository_of(actor, repository_id)
    if not may_change(actor, repository):
        raise NotFound
    return repository


def uses_of_version(repository: ImageRepository, digest: str) -> list[Use]:
    """Who needs this version, and the indexes that name it: for all to decide by, not to read."""
    with acting(system_actor()):
        found = uses.uses_of(uses.images_of(repository.name, uses.family(repository, digest)))
        for index in uses.indexes_with(repository, digest).prefetch_related("tags"):
            named = ", ".join(tag.name for tag in index.tags.all()) or index.digest
            found.append(Use(_("Index"), named, digest, organisation_id=repository.organisation_id))
    return found


def uses_of_repository(repository: ImageRepository) -> list[Use]:
    """Who needs any of its versions."""
    with acting(system_actor()):
        digests = set(repository.manifests.values_list("digest", flat=True))
        return uses.uses_of(uses.images_of(repository.name, digests))


def delete_tag(actor: Actor, tag_id: UUID) -> ImageTag:
    """Delete the tag, and its image where nothing else names it: no other tag or index, and nobody needs it.

    Raises `NotFound`, `RegistryAway`, and `Conflict` where the tag leads elsewhere by now.
    """
    tag = tag_of(actor, tag_id)
    repository, digest = tag.repository, tag.manifest.digest
    with _alone(actor, repository) as deletion:
        found = deletion.client.manifest(repository.name, tag.name)
        if found is not None and found.digest != digest:
            raise Conflict(_("Somebody has just pushed another image under this tag. Look at it first."))
        if not ImageTag.objects.filter(pk=tag.pk, manifest_id=tag.manifest_id).exists():
            raise NotFound
        kept = tag.manifest.tags.exclude(pk=tag.pk).exists() or bool(uses_of_version(repository, digest))
        if kept and found is not None:
            _untag(deletion.client, repository.name, tag.name)
        deletion.record("image.tag_deleted", f"{repository.name}:{tag.name}", {"digest": digest})
        offering.withdraw([tag])
        ImageTag.objects.filter(pk=tag.pk).delete()
        if not kept:
            deletion.remove(digest)
    return tag


def delete_version(actor: Actor, repository_id: UUID, digest: str) -> None:
    """Delete one digest with the tags that lead to it. Raises `NotFound`, `RegistryAway`, `InUse`."""
    manifest = version_of(actor, repository_id, digest)
    _delete_version(actor, manifest.repository, digest)


def delete_repository(actor: Actor, repository_id: UUID) -> str:
    """Delete all of its versions and tags; its name. Raises `NotFound`, `RegistryAway`, `InUse`."""
    repository = changeable(actor, repository_id)
    with _alone(actor, repository) as deletion:
        deletion.refuse_used(uses_of_repository(repository))
        for digest in sorted(repository.manifests.values_list("digest", flat=True)):
            deletion.forget(digest)
        deletion.record("image.repository_deleted", repository.name)
    return repository.name


def delete_by_client(name: str, digest: str, username: str) -> None:
    """What a client of the registry asks for whose token allows it. Raises `NotFound`, `RegistryAway`, `InUse`."""
    with acting(system_actor()) as platform:
        manifest = _known(name, digest)
        who = User.objects.filter(username__iexact=username).first()
        try:
            organisation_id = manifest.organisation_id
            actor = organisation_actor(who, organisation_id, channel=Channel.API) if who is not None else platform
        except Denied as error:
            raise NotFound from error
        _delete_version(actor, manifest.repository, digest)


def _known(name: str, digest: str) -> ImageManifest:
    """Read from the registry where we have not heard of it."""
    rows = ImageManifest.objects.filter(repository__name=name, digest=digest).select_related("repository")
    if not rows.exists():
        with Client() as client:
            recording.pushed(client, name, digest, digest, "")
    found: ImageManifest | None = rows.first()
    if found is None:
        raise NotFound
    return found


def _delete_version(actor: Actor, repository: ImageRepository, digest: str) -> None:
    with _alone(actor, repository) as deletion:
        if not repository.manifests.filter(digest=digest).exists():
            raise NotFound
        deletion.refuse_used(uses_of_version(repository, digest))
        deletion.remove(digest)


@dataclass(frozen=True, slots=True)
class _Deletion:
    """Who deletes what, with the repository's lock."""

    actor: Actor
    client: Client
    repository: ImageRepository

    def refuse_used(self, found: list[Use]) -> None:
        if found:
            raise InUse(uses.shown_to(self.actor, found))

    def remove(self, digest: str) -> None:
        """Of an index also those of its images that nothing else names."""
        children = [each for row in self.repository.manifests.filter(digest=digest) for each in row.children]
        self.forget(digest)
        for child in children:
            row = self.repository.manifests.filter(digest=child).first()
            if row is not None and not row.tags.exists() and not uses_of_version(self.repository, child):
                self.forget(child)

    def forget(self, digest: str) -> None:
        """Ours and the registry's, or neither."""
        with transaction.atomic():
            tags = list(ImageTag.objects.filter(manifest__repository=self.repository, manifest__digest=digest))
            offering.withdraw(tags)
            values = {"organisation_id": self.repository.organisation_id, "deleted_at": Now()}
            DeletedManifest.objects.update_or_create(
                repository_name=self.repository.name, digest=digest, defaults=values
            )
            self.repository.manifests.filter(digest=digest).delete()
            before = {"tags": sorted(tag.name for tag in tags)}
            self.record("image.version_deleted", f"{self.repository.name}@{digest}", before)
            self.client.delete(self.repository.name, digest)

    def record(self, action: str, label: str, before: dict[str, Any] | None = None) -> None:
        target = Target("image_repository", str(self.repository.pk), label)
        organisation_id = self.repository.organisation_id
        record(self.actor, action=action, target=target, organisation_id=organisation_id, before=before)


@contextmanager
def _alone(actor: Actor, repository: ImageRepository) -> Iterator[_Deletion]:
    """A transaction of the platform in which nothing starts in one of its images, and nobody reads it anew.

    Where the registry fails in the middle, what was deleted until then stays deleted.
    """
    failure: RegistryAway | None = None
    with Client() as client, acting(system_actor()):
        with transaction.atomic():
            holding.lock_for_deletion(repository.name)
            if not ImageRepository.objects.select_for_update().filter(pk=repository.pk).exists():
                raise NotFound
            try:
                yield _Deletion(actor, client, repository)
            except RegistryAway as error:
                failure = error
        if failure is not None:
            raise failure
        recording.read_again(client, repository.name)


def _untag(client: Client, name: str, tag: str) -> None:
    """Take the tag off its image, which stays: distribution 2 deletes a tag only together with what it leads to.

    So it is first led to an empty manifest that nobody else has.
    """
    config = json.dumps({"plstack": uuid4().hex}).encode()
    client.put_blob(name, config)
    kind = "application/vnd.oci.image.config.v1+json"
    about = {"mediaType": kind, "digest": oci.digest_of(config), "size": len(config)}
    empty = {"schemaVersion": 2, "mediaType": oci.MANIFESTS[0], "config": about, "layers": []}
    body = json.dumps(empty).encode()
    client.put_manifest(name, tag, body, oci.MANIFESTS[0])
    client.delete(name, oci.digest_of(body))
