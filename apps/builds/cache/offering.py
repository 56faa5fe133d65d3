"""What a build that is submitted finds of its steps, and where it keeps the others."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models.functions import Now

from apps.builds.cache.keys import Copied, keys_of
from apps.builds.models import CachedStep
from apps.builds.plan import Step
from apps.common.actor import Actor
from apps.registry.models import Image
from apps.storage import rebuilding
from apps.storage import services as storage
from apps.storage.models import Folder, FolderKind
from apps.storage.safe_open import open_file
from apps.storage.services import root_of
from apps.workloads.references import Reference


@dataclass(frozen=True, slots=True)
class Offer:
    """`keys`: one for each step. `told`: for the plan. The build reads the folder `cached` and writes to `kept`."""

    keys: list[str]
    told: dict[str, Any]
    cached: Folder
    kept: Folder


def offer(actor: Actor, base: Image, steps: Sequence[Step], files: dict[str, Copied], folders: list[Folder]) -> Offer:
    """Call in the transaction of `folders` (`storage.new_folders`)."""
    keys = keys_of(Reference.parse(base.reference).digest, steps, files)
    cached = storage.create_folder(actor, kind=FolderKind.CODE)
    folders.append(cached)
    kept = storage.create_folder(actor, kind=FolderKind.OUTPUT)
    folders.append(kept)
    found = _laid_out(actor, keys, cached)
    told = [{"keep": bool(key), "found": found.get(number, {})} for number, key in enumerate(keys, 1)]
    return Offer(keys, {"steps": told, "most_bytes": settings.BUILD_CACHE_BYTES}, cached, kept)


def read_copied(files: Folder | None, steps: Sequence[Step]) -> dict[str, Copied]:
    """What the steps copy. The folder must be sealed."""
    names = {source for step in steps for source, _target in step.files}
    return {name: _read(files, name) for name in sorted(names)} if files is not None else {}


def _read(folder: Folder, name: str) -> Copied:
    with open(open_file(root_of(folder), name), "rb") as file:
        is_executable = bool(os.fstat(file.fileno()).st_mode & 0o111)
        return Copied(hashlib.file_digest(file, "sha256").hexdigest(), is_executable)


def _laid_out(actor: Actor, keys: Sequence[str], folder: Folder) -> dict[int, dict[str, str]]:
    """By step, digests by architecture: an unbroken row of steps from the first on, each linked into the folder."""
    rows = CachedStep.objects.filter(organisation_id=actor.organisation(), key__in=[key for key in keys if key])
    by_place = {(row.key, row.architecture): row for row in rows.select_related("manifest")}
    found: dict[int, dict[str, str]] = {}
    used: list[int] = []
    for architecture in {row.architecture for row in by_place.values()}:
        for number, key in enumerate(keys, 1):
            row = by_place.get((key, architecture))
            if row is None or not _link(row, folder, number):
                break
            found.setdefault(number, {})[architecture] = row.digest
            used.append(row.pk)
    CachedStep.objects.filter(pk__in=used).update(used_at=Now())
    return found


def _link(row: CachedStep, folder: Folder, number: int) -> bool:
    try:
        rebuilding.materialise(row.manifest, root_of(folder) / f"{number}.{row.architecture}", read_only=True)
    except OSError:  # its content is not there any more
        return False
    return True
