"""Our tables after the registry: read there, never taken from an event, so that one heard twice or late is harmless."""

import json
import logging
import time
from contextlib import suppress

from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Now

from apps.audit.services import Target, record
from apps.common.actor import Actor, Channel, system_actor
from apps.common.errors import Denied
from apps.registry.distribution import documents, offering
from apps.registry.distribution.client import Client, Manifest, RegistryAway
from apps.registry.distribution.documents import Document, Malformed
from apps.registry.distribution.names import RepositoryName, organisation_named, person_named
from apps.registry.models import DeletedManifest, ImageManifest, ImageRepository, ImageTag, ManifestBlob
from apps.registry.sharing import services as sharing
from apps.tenants.actors import organisation_actor
from apps.tenants.models import User

PAUSES_S = (0.02, 0.05, 0.1, 0.2, 0.4)
log = logging.getLogger(__name__)


def pushed(client: Client, name: str, reference: str, digest: str, username: str) -> None:
    """Read again what somebody has pushed, by tag or digest. Call it as the platform.

    The registry tells of a manifest a moment before it sets the tag, and answers 500 while it does, so that the tag is
    waited for; where it leads elsewhere for longer, the event is an old one.
    """
    if not _is_name(name):
        return
    for pause in PAUSES_S:
        with suppress(RegistryAway):
            found = client.manifest(name, reference)
            if found is not None and found.digest == digest:
                break
        time.sleep(pause)
    with transaction.atomic():
        repository = _repository(name)
        if repository is None:
            return
        who = User.objects.filter(username__iexact=username).first() if username else None
        found = client.manifest(name, reference)
        if not reference.startswith("sha256:"):
            _tag(client, repository, reference, found, who)
        elif found is not None:
            _manifest(client, repository, found, who)
        _remove_if_empty(repository, who)  # what was deleted before its event came is not made anew by it


def read_again(client: Client, name: str, username: str = "") -> None:
    """Bring the repository's tags and manifests to what the registry has now. Call it as the platform.

    `username`: who is said to have deleted something there.
    """
    if not _is_name(name):
        return
    if not ImageRepository.objects.filter(name=name).exists() and not client.tags(name):
        return
    with transaction.atomic():
        repository = _repository(name)
        if repository is None:
            return
        tags = client.tags(name)
        for tag in tags:
            _tag(client, repository, tag, client.manifest(name, tag), None)
        who = User.objects.filter(username__iexact=username).first() if username else None
        for gone in repository.tags.select_related("manifest").exclude(name__in=tags):
            _tag(client, repository, gone.name, None, who)
        for manifest in repository.manifests.filter(tags__isnull=True):
            if client.manifest(name, manifest.digest) is None:
                manifest.delete()
        _remove_if_empty(repository, who)


def _remove_if_empty(repository: ImageRepository, who: User | None) -> None:
    if not repository.manifests.exists():
        sharing.end_all(_actor(repository, who), repository)
        repository.delete()


def read_all(client: Client) -> None:
    """Every repository: for events that were missed. What cannot be read now is left as it is."""
    names = set(client.repositories()) | set(ImageRepository.objects.values_list("name", flat=True))
    for name in sorted(names):
        read_again(client, name)


def _is_name(text: str) -> bool:
    try:
        RepositoryName.parse(text)
    except ValueError:
        return False
    return True


def _repository(name: str) -> ImageRepository | None:
    """The row, locked: whoever reads the registry last writes last. None for a name that is nobody's."""
    parsed = RepositoryName.parse(name)
    organisation = organisation_named(parsed.organisation)
    owner = person_named(parsed.person) if parsed.person else None
    if organisation is None or (parsed.person and owner is None):
        log.warning("a repository belongs to nobody: %s", name)
        return None
    found: ImageRepository | None = None
    while found is None:  # whoever finds nothing in the registry may remove the row before it is locked here
        ImageRepository.objects.get_or_create(name=name, defaults={"organisation": organisation, "owner": owner})
        found = ImageRepository.objects.select_for_update().filter(name=name).first()
    return found


def _tag(client: Client, repository: ImageRepository, tag: str, found: Manifest | None, who: User | None) -> None:
    before = repository.tags.select_related("manifest").filter(name=tag).first()
    if found is None:
        if before is not None:
            _gone(repository, before, who)
        return
    if before is not None and before.manifest.digest == found.digest:
        if who is not None and before.pushed_by_id is None:
            repository.tags.filter(pk=before.pk).update(pushed_by=who)
            before.pushed_by = who
        before.repository = repository
        offering.offer(before)
        return
    manifest = _manifest(client, repository, found, who)
    values = {"organisation_id": repository.organisation_id, "manifest": manifest, "pushed_by": who, "pushed_at": Now()}
    made, _new = ImageTag.objects.update_or_create(repository=repository, name=tag, defaults=values)
    offering.offer(made)
    ImageRepository.objects.filter(pk=repository.pk).update(pushed_at=Now())
    record(
        _actor(repository, who),
        action="image.pushed",
        target=Target("image_repository", str(repository.pk), f"{repository.name}:{tag}"),
        organisation_id=repository.organisation_id,
        before={"digest": before.manifest.digest} if before else None,
        after={"digest": found.digest},
    )


def _gone(repository: ImageRepository, tag: ImageTag, who: User | None) -> None:
    offering.withdraw([tag])
    record(
        _actor(repository, who),
        action="image.tag_deleted",
        target=Target("image_repository", str(repository.pk), f"{repository.name}:{tag.name}"),
        organisation_id=repository.organisation_id,
        before={"digest": tag.manifest.digest},
    )
    tag.delete()


def _actor(repository: ImageRepository, who: User | None) -> Actor:
    """Who pushed: the person as they are in the organisation now, else the platform, which found it."""
    try:
        return (
            system_actor() if who is None else organisation_actor(who, repository.organisation_id, channel=Channel.API)
        )
    except Denied:
        return system_actor()


def _manifest(client: Client, repository: ImageRepository, found: Manifest, who: User | None) -> ImageManifest:
    there: ImageManifest | None = repository.manifests.filter(digest=found.digest).first()
    if there is not None:
        return there
    try:
        document = documents.read(found.body)
    except Malformed:
        log.warning("%s@%s is no image", repository.name, found.digest)
        document = Document("application/octet-stream", artifact=True)
    for child in document.children:
        inside = client.manifest(repository.name, child.digest)
        if inside is not None and not repository.manifests.filter(digest=child.digest).exists():
            _image(client, repository, inside, who)
    return _write(repository, found, document, _platform(client, repository, document), who)


def _image(client: Client, repository: ImageRepository, found: Manifest, who: User | None) -> None:
    """One of an index's images; an index inside an index is none."""
    try:
        document = documents.read(found.body)
    except Malformed:
        return
    if not document.children:
        _write(repository, found, document, _platform(client, repository, document), who)


def _write(
    repository: ImageRepository, found: Manifest, document: Document, platform: str, who: User | None
) -> ImageManifest:
    children = [child.digest for child in document.children]
    inside = repository.manifests.filter(digest__in=children).aggregate(size=Sum("size"))["size"] or 0
    organisation_id = repository.organisation_id
    manifest: ImageManifest = ImageManifest.objects.create(
        organisation_id=organisation_id,
        repository=repository,
        digest=found.digest,
        media_type=document.media_type,
        platform=platform[:200],
        size=len(found.body) + inside + sum(blob.size for blob in {b.digest: b for b in document.blobs}.values()),
        children=children,
        pushed_by=who,
    )
    DeletedManifest.objects.filter(repository_name=repository.name, digest=found.digest).delete()
    ManifestBlob.objects.bulk_create(
        ManifestBlob(
            organisation_id=organisation_id, manifest=manifest, position=place, digest=blob.digest, size=blob.size
        )
        for place, blob in enumerate(document.blobs)
    )
    return manifest


def _platform(client: Client, repository: ImageRepository, document: Document) -> str:
    if document.platforms:
        return ", ".join(document.platforms)
    if document.artifact or not document.blobs or document.blobs[0].size > documents.MOST_BYTES:
        return ""
    try:
        about = json.loads(client.small_blob(repository.name, document.blobs[0].digest) or b"{}")
    except (ValueError, RecursionError):
        return ""
    return documents.platform_text(about) if isinstance(about, dict) else ""
