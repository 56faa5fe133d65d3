"""What people do with repositories on pages: share them with colleagues, and delete tags."""

import json
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor, system_actor
from apps.common.errors import Conflict, NotFound
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.registry.distribution import offering, recording, uses
from apps.registry.distribution.client import Client
from apps.registry.distribution.selectors import may_change, repository_of
from apps.registry.models import ImageRepository, ImageTag
from apps.workloads.drivers.local.oci import manifest as oci


def share(actor: Actor, repository_id: UUID, *, shared: bool) -> ImageRepository:
    """Let colleagues pull it, or end that. Only its owner decides; the organisation's own are everybody's."""
    repository = _changeable(actor, repository_id)
    if repository.owner_id != actor.user_id:
        raise NotFound
    with transaction.atomic():
        ImageRepository.objects.filter(pk=repository.pk).update(shared=shared)
        repository.shared = shared
        offering.share(repository)
        _record(actor, repository, "image.shared" if shared else "image.unshared", repository.name)
    return repository


def tag_of(actor: Actor, tag_id: UUID) -> ImageTag:
    """A tag that the actor may delete; `NotFound` otherwise."""
    tag: ImageTag | None = ImageTag.objects.select_related("repository", "manifest").filter(pk=tag_id).first()
    if tag is None:
        raise NotFound
    _changeable(actor, tag.repository_id)
    return tag


def delete_tag(actor: Actor, tag_id: UUID) -> ImageTag:
    """Delete the tag, and its image where nothing else names it: no other tag, nothing that runs, no passport.

    Raises `NotFound`, `RegistryAway`, and `Conflict` where the tag leads elsewhere by now.
    """
    tag = tag_of(actor, tag_id)
    name, digest = tag.repository.name, tag.manifest.digest
    with Client() as client:
        found = client.manifest(name, tag.name)
        if found is not None and found.digest != digest:
            raise Conflict(_("Somebody has just pushed another image under this tag. Look at it first."))
        with acting(system_actor()):
            kept = tag.manifest.tags.exclude(pk=tag.pk).exists() or uses.is_needed(name, [digest])
        if found is not None:
            _untag(client, name, tag.name) if kept else client.delete(name, digest)
        with acting(system_actor()), transaction.atomic():
            _record(actor, tag.repository, "image.tag_deleted", f"{name}:{tag.name}", {"digest": digest})
            offering.withdraw([tag])
            ImageTag.objects.filter(pk=tag.pk).delete()
        with acting(system_actor()):
            recording.read_again(client, name)
    return tag


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


def _changeable(actor: Actor, repository_id: UUID) -> ImageRepository:
    actor.require(Permission.IMAGES_USE)
    repository = repository_of(actor, repository_id)
    if not may_change(actor, repository):
        raise NotFound
    return repository


def _record(
    actor: Actor, repository: ImageRepository, action: str, label: str, before: dict[str, object] | None = None
) -> None:
    target = Target("image_repository", str(repository.pk), label)
    record(actor, action=action, target=target, organisation_id=repository.organisation_id, before=before)
