"""What a build that is submitted finds of its steps, and where it keeps the others."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now

from apps.builds.cache.keys import Copied, end_of, keys_of
from apps.builds.models import CachedStep
from apps.builds.plan import Plan, Step
from apps.common.actor import Actor
from apps.registry.models import Image
from apps.storage import rebuilding
from apps.storage import services as storage
from apps.storage.models import Folder, FolderKind
from apps.storage.objects import write_all
from apps.storage.safe_open import open_file, writing
from apps.storage.services import root_of
from apps.workloads.references import Reference

FOUND = "found.json"  # as `inside/step_cache.py` has it


@dataclass(frozen=True, slots=True)
class Offer:
    """`keys`: one for each step. `told`: for the plan. The build reads the folder `cached` and writes to `kept`."""

    keys: list[str]
    told: dict[str, Any]
    cached: Folder
    kept: Folder


def offer(actor: Actor, bases: Sequence[Image], plan: Plan, files: dict[str, Copied], folders: list[Folder]) -> Offer:
    """`bases`: of each part of the plan. Call in the transaction of `folders` (`storage.new_folders`)."""
    by_part = _keys_by_part(bases, plan, files)
    keys = [key for part in by_part for key in part]
    cached = storage.create_folder(actor, kind=FolderKind.CODE)
    folders.append(cached)
    kept = storage.create_folder(actor, kind=FolderKind.OUTPUT)
    folders.append(kept)
    for number in range(len(by_part)):
        (root_of(kept) / str(number)).mkdir()
    lay_out(actor.organisation(), by_part, cached)
    told = [{"keep": bool(key), "same": _same(by_part, number, key)} for number, key in enumerate(keys, 1)]
    return Offer(keys, {"steps": told, "most_bytes": settings.BUILD_CACHE_BYTES}, cached, kept)


def _keys_by_part(bases: Sequence[Image], plan: Plan, files: Mapping[str, Copied]) -> list[list[str]]:
    found: list[list[str]] = []
    ends: list[str] = []
    for base, part in zip(bases, plan.parts, strict=True):
        digest = Reference.parse(base.reference).digest
        found.append(keys_of(digest, part.steps, files, ends))
        ends.append(end_of(digest, found[-1]))
    return found


def _same(by_part: Sequence[Sequence[str]], number: int, key: str) -> list[tuple[int, int]]:
    """Part and number of the same step in an earlier part, which keeps it where it is carried out first."""
    before = 0
    found = []
    for part, keys in enumerate(by_part):
        if before + len(keys) >= number:
            break
        found += [(part, before + place) for place, other in enumerate(keys, 1) if key and other == key]
        before += len(keys)
    return found


def read_copied(files: Folder | None, steps: Sequence[Step]) -> dict[str, Copied]:
    """What the steps copy. The folder must be sealed."""
    names = {source for step in steps for source, _target in step.files}
    return {name: _read(files, name) for name in sorted(names)} if files is not None else {}


def _read(folder: Folder, name: str) -> Copied:
    with open(open_file(root_of(folder), name), "rb") as file:
        is_executable = bool(os.fstat(file.fileno()).st_mode & 0o111)
        return Copied(hashlib.file_digest(file, "sha256").hexdigest(), is_executable)


def lay_out(organisation_id: UUID, by_part: Sequence[Sequence[str]], folder: Folder) -> None:
    """Link what there is of these steps into the folder, and say there what it is. Again: also what came since."""
    found = _laid_out(organisation_id, by_part, folder)
    with writing(root_of(folder), FOUND) as file:
        write_all(file, json.dumps(found).encode())


def _laid_out(organisation_id: UUID, by_part: Sequence[Sequence[str]], folder: Folder) -> dict[int, dict[str, str]]:
    """By step, digests by architecture: of each part an unbroken row of steps from its first on, each linked there."""
    wanted = {key for keys in by_part for key in keys if key}
    rows = CachedStep.objects.filter(organisation_id=organisation_id, key__in=wanted)
    by_place = {(row.key, row.architecture): row for row in rows.select_related("manifest")}
    found: dict[int, dict[str, str]] = {}
    used: list[int] = []
    for architecture in {row.architecture for row in by_place.values()}:
        before = 0
        for keys in by_part:
            for number, key in enumerate(keys, before + 1):
                row = by_place.get((key, architecture))
                if row is None or not _link(row, folder, number):
                    break
                found.setdefault(number, {})[architecture] = row.digest
                used.append(row.pk)
            before += len(keys)
    CachedStep.objects.filter(pk__in=used).update(used_at=Now())
    return found


def _link(row: CachedStep, folder: Folder, number: int) -> bool:
    try:
        rebuilding.materialise(row.manifest, root_of(folder) / f"{number}.{row.architecture}", read_only=True)
    except OSError:  # its content is not there any more
        return False
    return True
