"""One digest of all that a folder holds, computed once when nobody writes to it any more.

It is the SHA-256 of what this prints inside it, so that anybody can check it with a download in hand:
`find . -type f -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 sha256sum`
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from uuid import UUID

from django.db.models import Q

from apps.common.errors import NotFound
from apps.storage.disk import data_root
from apps.storage.models import Folder, FolderKind
from apps.storage.mounted import written_folders
from apps.storage.safe_open import TooDeep, open_file_by_names, walk

# What one digest may cost: beyond, a folder has none.
MOST_FILES, MOST_BYTES = 20_000, 100 * 10**9
DEADLINE_S = 1800.0
CHUNK = 4 << 20
# Outputs once their run has ended; the others once they are sealed.
DIGESTED = Q(kind=FolderKind.OUTPUT) | Q(kind__in=[FolderKind.CODE, FolderKind.RESUME], sealed=True)


class NoDigest(StrEnum):
    """Why a folder has none."""

    TOO_LARGE = "too_large"
    TOO_LONG = "too_long"
    MISSING = "missing"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Digest:
    """Of a folder's regular files; `problem` where there is no `sha256`."""

    sha256: str = ""
    files: int = 0
    size: int = 0
    problem: NoDigest | None = None


def digest_of(folder: Folder) -> Digest | None:
    """None until it is known whether there is one."""
    found = folder.digest
    if found is None:
        return None
    if "problem" in found:
        return Digest(problem=NoDigest(found["problem"]))
    return Digest(found["sha256"], found["files"], found["bytes"])


def due_folders(most: int = 50) -> Iterator[tuple[UUID, UUID]]:
    """Ids of folders whose writers have ended, oldest first, with their organisations'. Needs the platform's scope."""
    busy = [UUID(path.rpartition("/")[2]) for path in written_folders()]
    rows = Folder.objects.filter(DIGESTED, digest__isnull=True).exclude(pk__in=busy).order_by("created_at")
    yield from rows.values_list("pk", "organisation_id")[:most]


def compute(folder_id: UUID) -> None:
    """Compute and record it; nothing where it is recorded already. Needs the platform's scope."""
    folder = Folder.objects.filter(pk=folder_id, digest__isnull=True).first()
    if folder is None:
        return
    try:
        found = tree_digest(data_root() / folder.relative_path)
    except NotFound:
        found = Digest(problem=NoDigest.MISSING)
    except (OSError, TooDeep):
        found = Digest(problem=NoDigest.UNREADABLE)
    _record(folder_id, found)


def give_up(folder_id: UUID) -> None:
    """Record that it took too long."""
    _record(folder_id, Digest(problem=NoDigest.TOO_LONG))


def _record(folder_id: UUID, found: Digest) -> None:
    digest = (
        {"problem": found.problem.value}
        if found.problem
        else {"sha256": found.sha256, "files": found.files, "bytes": found.size}
    )
    Folder.objects.filter(pk=folder_id, digest__isnull=True).update(digest=digest)


def tree_digest(root: Path, *, most_files: int = MOST_FILES, most_bytes: int = MOST_BYTES) -> Digest:
    """Of the regular files below `root`; `TOO_LARGE` beyond the limits. Raises `NotFound`, `TooDeep`, OSError."""
    found: list[tuple[bytes, tuple[str, ...]]] = []
    size = 0
    for each in walk(root):
        if each.is_file:
            names = (*each.names, each.name)
            found.append((os.fsencode("/".join(names)), names))
            size += each.status.st_size
        if len(found) > most_files or size > most_bytes:
            return Digest(problem=NoDigest.TOO_LARGE)
    total, size = hashlib.sha256(), 0
    for path, names in sorted(found):
        sha256, count = _file_digest(root, names)
        total.update(f"{sha256}  ".encode() + path + b"\n")
        size += count
    return Digest(total.hexdigest(), len(found), size)


def _file_digest(root: Path, names: tuple[str, ...]) -> tuple[str, int]:
    sha256, size = hashlib.sha256(), 0
    descriptor = open_file_by_names(root, names)
    try:
        while chunk := os.read(descriptor, CHUNK):
            sha256.update(chunk)
            size += len(chunk)
    finally:
        os.close(descriptor)
    return sha256.hexdigest(), size
