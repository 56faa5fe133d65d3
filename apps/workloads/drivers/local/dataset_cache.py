"""Copies of datasets that a machine keeps: `datasets/<tenant>-<digest>/tree`, one per content and tenant.

Bounded in bytes. To make room, those go first that were used longest ago, and never one that a live run mounts. The
folder is nobody's but the platform's: what is in it is seen through the read-only mounts of runs alone. Standard
library only.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from pathlib import Path
from typing import Any
from uuid import UUID

from apps.workloads.drivers.base import MountCopy
from apps.workloads.drivers.local.disk_floor import Space
from apps.workloads.drivers.local.linux import remove_tree, write_atomic
from apps.workloads.drivers.local.tree_store import TreeStore

FOLDER, TREE, RECORD, WANTED, SPEED = "datasets", "tree", "record.json", "wanted", "speed.json"
MIB = 1024 * 1024
MOST_REPORTED = 200
"""A heartbeat is sent every few seconds, so it names those used last only."""


class Room(Enum):
    """ENOUGH: it may be copied. CACHE_TAKEN: not within the limit of the cache. DISK_FULL: not on the disk."""

    ENOUGH = auto()
    CACHE_TAKEN = auto()
    DISK_FULL = auto()


class DatasetCache(TreeStore):
    """Below a home."""

    def __init__(self, home: Path) -> None:
        super().__init__(home / FOLDER, RECORD)

    def tree(self, name: str) -> Path:
        return self.complete(name) / TREE

    def make_room(self, name: str, copy: MountCopy) -> Room:
        """Whether it may be copied now, by whoever may make it; its bytes are promised to it from then on."""
        limit = copy.cache_mib * MIB
        if copy.size > limit:
            return Room.CACHE_TAKEN
        with self._alone():
            used = sum(size for _, size, _ in self.kept()) + sum(
                size for draft, size in self._drafts() if draft != name
            )
            found = self._free(limit - copy.size, copy.size - _size(self.draft_of(name)), used, name)
            if found is Room.ENOUGH:
                draft = self.draft_of(name)
                draft.mkdir(mode=0o755, exist_ok=True)
                (draft / WANTED).write_text(str(copy.size))
        return found

    def trim(self, limit_mib: int) -> None:
        """Removes until the rest keeps within the limit, and what killed processes left."""
        if not self.folder.is_dir():
            return
        self.sweep()
        with self._alone():
            used = sum(size for _, size, _ in self.kept())
            self._free(limit_mib * MIB, 0, used, "")

    def _free(self, limit: int, missing: int, used: int, name: str) -> Room:
        """Removes until `used` keeps within the limit and the disk has `missing` bytes above its floor."""
        candidates = self._candidates(name)
        while used > limit or not self._has_room(missing):
            removed = next(candidates, None)
            if removed is None:
                return Room.CACHE_TAKEN if used > limit else Room.DISK_FULL
            used -= removed
        return Room.ENOUGH

    def _candidates(self, name: str) -> Iterator[int]:
        """Removes one after the other, those used longest ago first; the size of each."""
        for draft, size in self._drafts():
            if draft != name and not self.is_being_made(draft):
                remove_tree(self.draft_of(draft))
                yield size
        for _, size, other in sorted(self.kept()):
            if self.remove(other):
                yield size

    def _has_room(self, missing: int) -> bool:
        space = Space.of(self.folder)
        return missing <= 0 or space.free - missing > space.floor

    def _drafts(self) -> list[tuple[str, int]]:
        """Each with what it was promised."""
        found = []
        for draft in self.folder.glob(".new-*"):
            with suppress(OSError, ValueError):
                found.append((draft.name.removeprefix(".new-"), int((draft / WANTED).read_text())))
        return found

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Room is promised to one after the other."""
        lock = os.open(self.folder / "room.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def finish(self, name: str, copy: MountCopy) -> None:
        """The draft, all of whose files were checked, becomes the copy. Raises OSError."""
        draft = self.draft_of(name)
        (draft / RECORD).write_text(json.dumps({"size": copy.size, "files": copy.files}))
        (draft / WANTED).unlink(missing_ok=True)
        self.publish(name)

    def note_speed(self, count: int, seconds: float) -> None:
        """What a copy did, so that it can be told how long the next takes; small ones tell nothing."""
        if count < MIB or seconds <= 0:
            return
        now, before = count / seconds, self.bytes_per_s()
        with suppress(OSError):
            speed = {"bytes_per_s": round((now + before) / 2 if before else now)}
            write_atomic(self.folder / SPEED, json.dumps(speed).encode(), durable=False)

    def bytes_per_s(self) -> float:
        """Of the last copies; 0 while none was made."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            return float(json.loads((self.folder / SPEED).read_bytes())["bytes_per_s"])
        return 0.0

    def report(self) -> dict[str, Any]:
        """For a heartbeat: what is kept here, the newest use first, and how fast copies are made."""
        kept = sorted(self.kept(), reverse=True)
        entries = [
            {"organisation": name[:36], "digest": name[37:], "bytes": size} for _, size, name in kept[:MOST_REPORTED]
        ]
        used = sum(size for _, size, _ in kept)
        return {"entries": entries, "count": len(kept), "used_bytes": used, "bytes_per_s": round(self.bytes_per_s())}


def name_of(tenant: UUID, copy: MountCopy) -> str:
    """A tenant's own: that somebody else has the same content is nobody's business."""
    return f"{tenant}-{copy.digest}"


def _size(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_size
    return total
