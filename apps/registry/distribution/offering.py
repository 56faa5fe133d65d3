"""Pushed images among those that work starts from: one for each tag, pinned to the digest that it leads to now."""

from django.conf import settings

from apps.registry.models import PUSHED as PREFIX
from apps.registry.models import Image, ImageRepository, ImageTag
from apps.registry.services import PERSONAL_SORT

MAX_NAME = 60


def key_of(tag: ImageTag) -> str:
    return f"{PREFIX}{tag.pk.hex}"


def offer(tag: ImageTag) -> None:
    """Put the tag's image into the picker, or bring it there to what the tag leads to. Others than images stay out."""
    repository, manifest = tag.repository, tag.manifest
    owner_id = repository.owner_id or tag.pushed_by_id
    if not manifest.platform or owner_id is None:
        withdraw([tag])
        return
    values = {
        "name": f"{repository.name.partition('/')[2]}:{tag.name}"[-MAX_NAME:],
        "description_en": manifest.platform,
        "description_zh": manifest.platform,
        "reference": f"{settings.REGISTRY_HOST}/{repository.name}@{manifest.digest}",
        "organisation_id": repository.organisation_id,
        "repository_id": repository.pk,
        "owner_id": owner_id,
        "shared": repository.owner_id is None or repository.shared,
        "active": True,
        "sort": PERSONAL_SORT,
    }
    Image.objects.update_or_create(key=key_of(tag), defaults=values)


def withdraw(tags: list[ImageTag]) -> None:
    """Take the tags' images out of the picker; what uses them keeps them."""
    Image.objects.filter(key__in=[key_of(tag) for tag in tags]).update(active=False)


def share(repository: ImageRepository) -> None:
    """As the repository is shared, so are its images."""
    keys = [key_of(tag) for tag in repository.tags.all()]
    Image.objects.filter(key__in=keys).update(shared=repository.owner_id is None or repository.shared)
