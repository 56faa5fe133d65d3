"""What a dataset version holds, as a file that machines check their copies with.

One JSON array for each entry, by path: [path, size, SHA-256 or null of a folder, whether it can be executed]. The
version's row has the SHA-256 of the file itself, and it never changes; the same content has the same file.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from uuid import UUID, uuid4

from django.db.models.functions import Collate

from apps.storage.choices import RootKind
from apps.storage.disk import data_root
from apps.storage.models import DatasetVersion, EntryKind, Manifest, ManifestEntry
from apps.workloads.dataset_copies import CopySource
from apps.workloads.spec import DataMount

FOLDER = "listings"


def listing_path(organisation_id: UUID, version_id: UUID | str) -> str:
    """Below the data root."""
    return f"{organisation_id}/{FOLDER}/{version_id}"


def write_listing(manifest: Manifest, version_id: UUID | str) -> bytes:
    """Writes it, whole, and returns its SHA-256. May be repeated."""
    path = data_root() / listing_path(manifest.organisation_id, version_id)
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    draft, digest = path.with_name(f".{version_id}-{uuid4().hex}"), hashlib.sha256()
    try:
        with open(draft, "xb") as file:
            for line in _lines(manifest):
                digest.update(line)
                file.write(line)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(0o444)
        draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)
    return digest.digest()


def _lines(manifest: Manifest) -> Iterator[bytes]:
    # Versions hold no links. By the bytes of the path, whatever the database's collation.
    rows = ManifestEntry.objects.filter(manifest=manifest).exclude(kind=EntryKind.LINK)
    columns = rows.order_by(Collate("path", "C")).values_list("path", "size", "sha256", "mode")
    for path, size, sha256, mode in columns.iterator(chunk_size=2000):
        digest = None if sha256 is None else bytes(sha256).hex()
        row = [path, size, digest, digest is not None and bool(mode & 0o111)]
        yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


def remove_listing(organisation_id: UUID, version_id: UUID | str) -> None:
    (data_root() / listing_path(organisation_id, version_id)).unlink(missing_ok=True)


def due_listings(most: int = 20) -> Iterator[tuple[UUID, UUID]]:
    """Ids of versions that have none, and of their organisations. Needs the platform's scope."""
    rows = DatasetVersion.objects.filter(listing_sha256__isnull=True).order_by("created_at")
    yield from rows.values_list("pk", "organisation_id")[:most]


def add_listing(version_id: UUID) -> None:
    """Of a version that was made before there were any. Needs the platform's scope."""
    version = DatasetVersion.objects.filter(pk=version_id, listing_sha256__isnull=True).first()
    if version is not None:
        digest = write_listing(version.manifest, version.pk)
        DatasetVersion.objects.filter(pk=version.pk).update(listing_sha256=digest)


def copy_sources(mounts: Iterable[DataMount]) -> Mapping[str, CopySource]:
    """One of `settings.MOUNT_COPIES`: the dataset versions among the mounts, by the mount's source."""
    ids = mounted_ids(mounts, RootKind.VERSION)
    if not ids:
        return {}
    rows = DatasetVersion.objects.filter(pk__in=ids, listing_sha256__isnull=False).select_related("dataset")
    return {ids[row.pk]: copy_source(row) for row in rows}


def copy_source(version: DatasetVersion) -> CopySource:
    """Of a version that has a listing."""
    return CopySource(
        version.organisation_id,
        f"{version.dataset.name} v{version.number}",
        listing_path(version.organisation_id, version.pk),
        bytes(version.listing_sha256 or b"").hex(),
        version.total_bytes,
        version.file_count,
    )


def mounted_ids(mounts: Iterable[DataMount], kind: RootKind) -> dict[UUID, str]:
    """The mounts' sources by the id of what is mounted, for mounts of this kind."""
    return {
        UUID(mount.source.rpartition("/")[2]): mount.source
        for mount in mounts
        if mount.source.partition("/")[2].partition("/")[0] == kind
    }
