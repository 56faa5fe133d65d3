"""What stands in the registry's paths, in the victim's world of the sweep."""

from collections.abc import Generator
from datetime import date
from typing import Any

from apps.common.scoping import acting
from apps.registry.distribution.client import Manifest
from apps.registry.models import (
    ImageManifest,
    ImageRepository,
    ImageTag,
    ImageTransfer,
    RepositoryShare,
    ScanException,
)
from tests.builders import World, make_organisation, platform, unique
from tests.registry.pushing import FIRST


class OneImage:
    """A registry's client that has the same small image everywhere."""

    def __enter__(self) -> "OneImage":
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is open."""

    def manifest(self, name: str, digest: str) -> Manifest:
        return Manifest(digest, FIRST.manifest)

    def blob(self, name: str, digest: str, size: int) -> Generator[bytes]:
        yield b"x" * size


def registry_values(world: World, secret: str) -> dict[str, Any]:
    return {**_repository(world, secret), **_image_rules(world, secret)}


def _repository(world: World, secret: str) -> dict[str, Any]:
    """One with a pushed image in it."""
    of_victim = {"organisation": world.organisation}
    row = ImageRepository.objects.create(**of_victim, owner=world.alice, name=f"lab/{unique(secret.lower())}")
    manifest = ImageManifest.objects.create(
        **of_victim, repository=row, digest=f"sha256:{'0' * 64}", media_type="", size=1, platform="linux/amd64"
    )
    tag = ImageTag.objects.create(**of_victim, repository=row, manifest=manifest, name=secret)
    with acting(platform()):
        receiver = make_organisation()
    share = RepositoryShare.objects.create(repository=row, receiver=receiver, note=secret)
    return {
        "repository_id": row.pk,
        "tag_id": tag.pk,
        "digest": manifest.digest,
        "tag": tag.name,
        "share_id": share.pk,
    }


def _image_rules(world: World, secret: str) -> dict[str, Any]:
    """A finding that the victim's policy overlooks, and an image on its way into their part of the registry."""
    exempt = ScanException.objects.create(
        organisation=world.organisation, finding="CVE-2025-1", reason=secret, until=date(2999, 1, 1)
    )
    pulled = ImageTransfer.objects.create(
        organisation=world.organisation,
        owner=world.alice,
        source="registry.lab/a:1",
        repository_name=f"lab/{unique(secret.lower())}",
        tag="1",
    )
    return {"exception_id": exempt.pk, "pull_id": pulled.pk}
