"""What stands in the registry's paths, in the victim's world of the sweep."""

from collections.abc import Generator
from datetime import date
from typing import Any

from django.db.models.functions import Now

from apps.common.scoping import acting
from apps.registry.distribution.client import Manifest
from apps.registry.models import (
    ImageManifest,
    ImageRepository,
    ImageSaving,
    ImageTag,
    ImageTransfer,
    RepositoryShare,
    ScanException,
)
from apps.workloads.models import Attempt
from tests.builders import World, make_organisation, platform, submit_workload, unique
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
    return {"exception_id": exempt.pk, "pull_id": pulled.pk, "saving_id": _saving(world, secret).pk}


def _saving(world: World, secret: str) -> ImageSaving:
    """Work that is being saved as an image."""
    with acting(world.actor):
        workload = submit_workload(world)
    with acting(platform()):
        attempt = Attempt.objects.create(
            organisation=world.organisation, workload=workload, number=1, node=world.node, ended_at=Now()
        )
        saving: ImageSaving = ImageSaving.objects.create(
            organisation=world.organisation,
            owner=world.alice,
            workload=workload,
            attempt=attempt,
            submit_key=unique("saving"),
            note=secret,
            repository_name=f"lab/{unique(secret.lower())}",
            is_new=True,
            tag="1",
        )
    return saving
