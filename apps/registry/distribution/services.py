"""What people do with repositories on pages: share them with colleagues. Their end is in `deleting`."""

from uuid import UUID

from django.db import transaction

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.registry.distribution import offering
from apps.registry.distribution.selectors import is_ours, repository_of
from apps.registry.models import ImageRepository


def share(actor: Actor, repository_id: UUID, *, shared: bool) -> ImageRepository:
    """Let colleagues pull it, or end that. Only its owner decides; the organisation's own are everybody's."""
    actor.require(Permission.IMAGES_USE)
    repository = repository_of(actor, repository_id)
    if not is_ours(actor, repository) or repository.owner_id is None or repository.owner_id != actor.user_id:
        raise NotFound
    with transaction.atomic():
        ImageRepository.objects.filter(pk=repository.pk).update(shared=shared)
        repository.shared = shared
        offering.share(repository)
        record(
            actor,
            action="image.shared" if shared else "image.unshared",
            target=Target("image_repository", str(repository.pk), repository.name),
            organisation_id=repository.organisation_id,
        )
    return repository
