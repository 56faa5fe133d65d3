"""The victim's volumes, datasets and files, for the sweep of all routes."""

from typing import Any

from apps.common.scoping import acting
from apps.storage import copying, datasets, uploads, volumes
from apps.storage.choices import RootKind
from apps.storage.roots import resolve
from tests.builders import World, actor_of


def storage_values(world: World, secret: str) -> dict[str, Any]:
    """A volume with a file in it, an upload and a copy under way, and a dataset."""
    actor = actor_of(world.alice, world.organisation)
    with acting(actor):
        volume = volumes.create(actor, name=f"{secret}-volume", size_mib=10, note=secret)
        (volumes.root_of(volume) / f"{secret}.txt").write_text(secret)
        root = resolve(actor, RootKind.VOLUME, volume.pk)
        upload, _offset = uploads.begin(actor, root, path=f"{secret}.bin", size=10)
        job = copying.start(actor, root, [f"{secret}.txt"], root, "")
        dataset = datasets.create(actor, name=f"{secret}-dataset", note=secret)
    return {
        "volume_id": volume.pk,
        "dataset_id": dataset.pk,
        "kind": "volume",
        "root_id": volume.pk,
        "upload_id": upload.pk,
        "job_id": job.pk,
    }
