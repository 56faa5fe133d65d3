"""The content store on the disk: each content once per organisation, under its SHA-256.

A content is written beside and renamed into place, so what lies under a hash is whole. Its row in the database is
the lock that everyone holds who refers to it or removes it; `collect_garbage` removes what nothing refers to any more.
"""

import ctypes
import fcntl
import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from apps.storage.disk import data_root
from apps.storage.models import ManifestEntry, StoredObject
from apps.storage.safe_open import SAFE

CHUNK = 1 << 20
FICLONE = 0x40049409  # linux/fs.h: share the blocks of another file, where the file system can
STALE_S = 24 * 3600
Tick = Callable[[], None]
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Staged:
    """A content that was read and staged; `path` is renamed into place or removed."""

    sha256: bytes
    size: int
    path: Path


def store_of(organisation_id: UUID) -> Path:
    return data_root() / str(organisation_id) / "objects"


def object_path(organisation_id: UUID, sha256: bytes) -> Path:
    digest = sha256.hex()
    return store_of(organisation_id) / digest[:2] / digest[2:]


def stage(organisation_id: UUID, source: int, tick: Tick | None = None) -> Staged:
    """Copy an open file to staging and hash exactly the bytes copied, even if the file changes meanwhile.

    `tick` is called for each piece; an exception from it ends the copy and leaves nothing behind.
    """
    waiting = store_of(organisation_id) / "tmp"
    waiting.mkdir(parents=True, exist_ok=True)
    path = waiting / uuid4().hex
    target = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | SAFE, 0o444)
    try:
        digest, size = _read_clone(source, target, tick) or _read_copy(source, target, tick)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(target)
    return Staged(digest, size, path)


def _read_clone(source: int, target: int, tick: Tick | None) -> tuple[bytes, int] | None:
    """Share the source's blocks and hash those; None where the file system cannot."""
    try:
        fcntl.ioctl(target, FICLONE, source)
    except OSError:
        return None
    digest, size = hashlib.sha256(), 0
    while chunk := os.pread(target, CHUNK, size):
        digest.update(chunk)
        size += len(chunk)
        if tick is not None:
            tick()
    return digest.digest(), size


def _read_copy(source: int, target: int, tick: Tick | None) -> tuple[bytes, int]:
    digest, size = hashlib.sha256(), 0
    while chunk := os.pread(source, CHUNK, size):
        digest.update(chunk)
        write_all(target, chunk)
        size += len(chunk)
        if tick is not None:
            tick()
    return digest.digest(), size


def write_all(target: int, data: bytes) -> None:
    """`os.write` may take less than it was given."""
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


def flush_staged(organisation_id: UUID) -> None:
    """Flush staged files to the disk before rows refer to them."""
    descriptor = os.open(store_of(organisation_id), os.O_RDONLY)
    try:
        _libc.syncfs(descriptor)
    finally:
        os.close(descriptor)


def store_contents(organisation_id: UUID, contents: dict[bytes, int], staged: dict[bytes, Path]) -> set[bytes]:
    """Lock the rows of `contents` (hash → size) until the transaction ends and put `staged` files in their place.

    Returns the hashes whose file is missing: nothing was staged for them and the store no longer has them.
    """
    rows = [StoredObject(organisation_id=organisation_id, sha256=key, size=contents[key]) for key in sorted(contents)]
    # Updating, even to the same size, takes the lock that `collect_garbage` respects.
    StoredObject.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["organisation", "sha256"], update_fields=["size"]
    )
    missing = set()
    for key in contents:
        place = object_path(organisation_id, key)
        if place.exists():
            continue
        if key not in staged:
            missing.add(key)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        staged[key].rename(place)
    return missing


def collect_garbage(*, limit: int = 1000) -> int:
    """Remove unreferenced contents; returns how many. Call in the platform's scope, any number of times.

    The rows are locked first and then checked again in a new snapshot: a manifest that took one of them meanwhile held
    the same lock and is seen now.
    """
    with transaction.atomic():
        free = _unreferenced(StoredObject.objects.all()).order_by("pk")[:limit].values_list("pk", flat=True)
        held = StoredObject.objects.filter(pk__in=list(free)).order_by("pk").select_for_update(skip_locked=True)
        sure = list(_unreferenced(StoredObject.objects.filter(pk__in=[row.pk for row in held])))
        for row in sure:
            with suppress(FileNotFoundError):
                object_path(row.organisation_id, bytes(row.sha256)).unlink()
        StoredObject.objects.filter(pk__in=[row.pk for row in sure]).delete()
    return len(sure)


def _unreferenced(rows: QuerySet[StoredObject]) -> QuerySet[StoredObject]:
    users = ManifestEntry.objects.filter(organisation_id=OuterRef("organisation_id"), sha256=OuterRef("sha256"))
    return rows.filter(~Exists(users))


def adopt_strays(organisation_id: UUID) -> int:
    """Give rows to files that a killed process left without one, so that `collect_garbage` finds them; how many.

    Also removes staged files older than a day.
    """
    store, found = store_of(organisation_id), 0
    with suppress(FileNotFoundError):
        for path in (store / "tmp").iterdir():
            if time.time() - path.stat().st_mtime > STALE_S:
                path.unlink(missing_ok=True)
    for shelf in sorted(store.glob("??")):
        here = {bytes.fromhex(shelf.name + path.name): path for path in shelf.iterdir()}
        known = StoredObject.objects.filter(organisation_id=organisation_id, sha256__in=list(here))
        strays = set(here) - {bytes(key) for key in known.values_list("sha256", flat=True)}
        rows = [
            StoredObject(organisation_id=organisation_id, sha256=key, size=here[key].stat().st_size) for key in strays
        ]
        StoredObject.objects.bulk_create(rows, ignore_conflicts=True)
        found += len(rows)
    return found
