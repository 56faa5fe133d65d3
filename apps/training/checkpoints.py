"""Checkpoints that a run left below $PLSTACK_CHECKPOINTS, as their names and times tell them apart.

What carries the same number belongs together: `epoch-3.pt`, `epoch-3.json` and the folder `epoch-3` are one checkpoint.
What carries none (`latest`, `config.json`) goes with each that was saved before it changed again; where nothing carries
a number, all of it is one checkpoint.
"""

import json
import os
import re
import stat
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from apps.common.errors import DomainError
from apps.storage.safe_open import HIDDEN, open_folder, open_regular, walk
from apps.storage.services import root_of
from apps.training.models import Run

FOLDER = "checkpoints"
EVERYTHING = "all"
"""Key of the checkpoint of a run whose files carry no numbers."""
# Entries of the folder, and files and folders in all, that are looked at.
MOST_NAMES, MOST_ENTRIES = 2000, 20_000
MAX_JSON, MAX_HEADER = 1 << 20, 64 << 20
_UNFINISHED = re.compile(r"(\.(tmp|temp|part|partial|incomplete|writing)|~)$|^\.?tmp[-_.]|^" + re.escape(HIDDEN), re.I)
_COUNTED = tuple(
    re.compile(rf"(?:^|[^a-z])(?P<unit>{unit})[-_=. ]?(?P<number>\d{{1,18}})(?![\d.]*\d)", re.I)
    for unit in ("global_?step|steps?", "iter(?:ation)?s?", "checkpoint|ckpt", "epochs?|ep")
)
_BARE = re.compile(r"(?:^|[-_=])(?P<number>\d{1,18})(?=$|[-_=.](?!\d))")


class Problem(StrEnum):
    """Why a checkpoint cannot be gone on from."""

    UNFINISHED = "unfinished"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """`key` names it among those of its run. `names`: its entries of the folder; `size` in bytes."""

    key: str
    name: str
    step: int | None
    saved_at: datetime
    size: int
    files: int
    names: tuple[str, ...]
    problem: Problem | None = None


@dataclass(slots=True)
class _Entry:
    name: str
    changed: float
    size: int
    files: int
    whole: bool


def checkpoints(run: Run) -> list[Checkpoint]:
    """Newest first; empty where it saved none. Raises nothing: a folder that cannot be read has none."""
    try:
        entries, complete = _entries(run)
    except (DomainError, OSError):
        return []
    broken = [_single(entry, Problem.UNFINISHED) for entry in entries if _UNFINISHED.search(entry.name)]
    found = [*_grouped([entry for entry in entries if not _UNFINISHED.search(entry.name)]), *broken]
    if not complete:
        found = [replace(each, problem=each.problem or Problem.TOO_MANY) for each in found]
    return sorted(found, key=lambda each: (each.saved_at, each.step or 0), reverse=True)


def latest(found: Iterable[Checkpoint]) -> Checkpoint | None:
    """The newest that can be gone on from."""
    return next((each for each in found if each.problem is None), None)


def has_any(run: Run) -> bool:
    """Whether there is anything in the folder: cheaper than reading it."""
    try:
        with open_folder(root_of(run.output), FOLDER) as folder:
            return bool(os.listdir(folder))
    except (DomainError, OSError):
        return False


def _entries(run: Run) -> tuple[list[_Entry], bool]:
    """What is in the folder, and whether all of it could be looked at."""
    root, found, left = root_of(run.output), [], MOST_ENTRIES
    with open_folder(root, FOLDER) as folder:
        names = sorted(os.listdir(folder))
        for name in names[:MOST_NAMES]:
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    whole = status.st_size > 0 and _is_whole(folder, name, status.st_size)
                    found.append(_Entry(name, status.st_mtime, status.st_size, 1, whole))
                elif stat.S_ISLNK(status.st_mode):
                    found.append(_Entry(name, status.st_mtime, 0, 0, True))
                elif stat.S_ISDIR(status.st_mode):
                    entry, looked_at = _folder_entry(run, name, status.st_mtime, left)
                    found.append(entry)
                    left -= looked_at
    return found, left > 0 and len(names) <= MOST_NAMES


def _folder_entry(run: Run, name: str, changed: float, most: int) -> tuple[_Entry, int]:
    entry, count = _Entry(name, 0.0, 0, 0, True), 0
    for each in walk(root_of(run.output), (FOLDER, name)):
        count += 1
        if count > most:
            break
        if each.is_file:
            entry.changed = max(entry.changed, each.status.st_mtime)
            entry.size, entry.files = entry.size + each.status.st_size, entry.files + 1
            entry.whole = entry.whole and _is_whole(each.parent, each.name, each.status.st_size)
    entry.changed, entry.whole = entry.changed or changed, entry.whole and entry.files > 0
    return entry, count


def _grouped(entries: Sequence[_Entry]) -> list[Checkpoint]:
    """One for each number; what has none goes with all that were saved before it changed again."""
    groups: dict[tuple[str, int], list[_Entry]] = {}
    loose = []
    for entry in entries:
        counted = step_of(entry.name)
        groups.setdefault(counted, []).append(entry) if counted else loose.append(entry)
    if not groups:
        return [_made(EVERYTHING, loose, None)] if any(entry.files for entry in loose) else []
    ordered = sorted(groups.items(), key=lambda item: (max(each.changed for each in item[1]), item[0][1]))
    begins = [min(each.changed for each in group) for _, group in ordered[1:]] + [float("inf")]
    return [
        _made(f"{unit}-{number}" if unit else str(number), group, number, [e for e in loose if e.changed < until])
        for ((unit, number), group), until in zip(ordered, begins, strict=True)
    ]


def _made(key: str, group: Sequence[_Entry], step: int | None, beside: Sequence[_Entry] = ()) -> Checkpoint:
    every = [*group, *beside]
    main = max(group, key=lambda each: (each.size, each.name))
    return Checkpoint(
        key=key,
        name=main.name if step is not None or len(group) == 1 else FOLDER,
        step=step,
        saved_at=datetime.fromtimestamp(max(each.changed for each in group), UTC),
        size=sum(each.size for each in every),
        files=sum(each.files for each in every),
        names=tuple(each.name for each in every),
        problem=None if all(each.whole for each in group) else Problem.UNFINISHED,
    )


def _single(entry: _Entry, problem: Problem) -> Checkpoint:
    saved_at = datetime.fromtimestamp(entry.changed, UTC)
    counted = step_of(entry.name)
    step = counted[1] if counted else None
    return Checkpoint(entry.name, entry.name, step, saved_at, entry.size, entry.files, (entry.name,), problem)


def step_of(name: str) -> tuple[str, int] | None:
    """The unit and number by which a name counts: ("epoch", 3) for `model-epoch3.pt`; without a unit ("", 3)."""
    for pattern in _COUNTED:
        if matches := list(pattern.finditer(name)):
            return re.sub(r"[^a-z]|s$", "", matches[-1]["unit"].lower()), int(matches[-1]["number"])
    bare = list(_BARE.finditer(name))
    return ("", int(bare[-1]["number"])) if bare else None


def _is_whole(folder: int, name: str, size: int) -> bool:
    """False where the file's own format says that its end is missing, as after a kill while it was written."""
    try:
        with open(open_regular(folder, name), "rb") as file:
            if file.read(4) == b"PK\x03\x04":  # what torch.save and numpy write
                return zipfile.is_zipfile(file)
            file.seek(0)
            if name.endswith(".safetensors"):
                length = int.from_bytes(file.read(8), "little")
                return length <= min(size, MAX_HEADER) and _safetensors_end(length, file.read(length)) == size
            if name.endswith(".json") and size <= MAX_JSON:
                json.loads(file.read())
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


def _safetensors_end(length: int, text: bytes) -> int:
    """Where the file has to end, as its header says. Raises ValueError, KeyError, TypeError for a torn header."""
    ends = [tensor["data_offsets"][1] for name, tensor in json.loads(text).items() if name != "__metadata__"]
    return 8 + length + max(ends, default=0)
