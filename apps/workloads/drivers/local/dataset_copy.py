"""Datasets that a run mounts are copied to its machine before its program exists, once for all runs there.

Each file is read once, hashed as it is read and compared with the listing, whose own digest came with the request. What
an earlier start has copied is hashed again instead of fetched, within a large file too. While the storage does not
answer the copy waits, and goes on where it was. Standard library only.
"""

import errno
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from apps.workloads.drivers.base import MountCopy, Progress
from apps.workloads.drivers.local.dataset_cache import TREE, DatasetCache, Room, name_of
from apps.workloads.drivers.local.mounting import MountFailed
from apps.workloads.drivers.local.records import RunSpec
from apps.workloads.drivers.local.volumes import HostMount
from apps.workloads.drivers.said import Code, Said

CHUNK = 8 << 20
LOOK_S, TELL_S, PATIENCE_S = 0.25, 0.5, 600.0
ROOT_MARKER = ".plstack-root"
LISTING = "listing"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
Tick = Callable[[], None]
Report = Callable[[Progress], None]


def provide(spec: RunSpec, tick: Tick, report: Report) -> tuple[RunSpec, list[int]]:
    """The spec with its mounts where they are to be read, and descriptors that keep the copies until they are closed.

    `tick` is called for each piece, and may raise to give up. Raises MountFailed, OSError.
    """
    held: list[int] = []
    mounts = tuple(_provided(spec, mount, held, tick, report) for mount in spec.mounts)
    return replace(spec, mounts=mounts), held


def _provided(spec: RunSpec, mount: HostMount, held: list[int], tick: Tick, report: Report) -> HostMount:
    copy, cache = mount.copy, DatasetCache(Path(spec.home))
    if copy is None:
        return mount
    name = name_of(spec.request.tenant_id, copy)
    cache.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    held.append(cache.hold_tree(name))
    while not cache.is_complete(name):
        lock = cache.try_to_make_tree(name)
        if lock is None:
            report(Progress(Said(Code.WAITING_FOR_COPY, {"name": copy.name})))
            tick()
            time.sleep(LOOK_S)
            continue
        try:
            if not cache.is_complete(name) and not _made(spec, mount, copy, cache, name, tick, report):
                os.close(held.pop())
                return mount
        finally:
            os.close(lock)
    return replace(mount, source=str(cache.tree(name)))


def _made(
    spec: RunSpec, mount: HostMount, copy: MountCopy, cache: DatasetCache, name: str, tick: Tick, report: Report
) -> bool:
    """False where the cache is too small or full of what runs: then it is mounted where it is."""
    cache.sweep()
    room = cache.make_room(name, copy)
    if room is Room.DISK_FULL:
        raise _no_room(copy)
    if room is Room.CACHE_TAKEN:
        report(Progress(Said(Code.MOUNTED_IN_PLACE, {"name": copy.name})))
        return False
    marker = Path(spec.data, ROOT_MARKER) if spec.data else None
    making = Making(copy, Path(mount.source), cache.draft_of(name), marker, tick, report)
    try:
        making.run()
        cache.finish(name, copy)
    except OSError as error:
        raise (_no_room(copy) if error.errno in _FULL else _failed(copy, error)) from error
    cache.note_speed(making.fetched, making.seconds)
    return True


def _no_room(copy: MountCopy) -> MountFailed:
    return MountFailed(Said(Code.NO_ROOM_FOR_DATASET, {"name": copy.name, "size_bytes": copy.size}))


def _failed(copy: MountCopy, error: OSError) -> MountFailed:
    return MountFailed(Said(Code.DATASET_NOT_COPIED, {"name": copy.name, "error": error.strerror or str(error)}))


@dataclass(slots=True)
class Making:
    """One dataset into one draft, which may hold a part of it. `marker`: is there while the storage is."""

    copy: MountCopy
    source: Path
    draft: Path
    marker: Path | None
    tick: Tick
    report: Report
    patience_s: float = PATIENCE_S
    done: int = 0
    fetched: int = 0
    began: float = field(default_factory=time.monotonic)
    _told: float = 0.0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    def run(self) -> None:
        """Raises MountFailed, OSError, and what `tick` raises."""
        self._tell(force=True)
        tree = self.draft / TREE
        tree.mkdir(mode=0o755, exist_ok=True)
        for path, size, digest, executable in self._listed():
            place = tree / path
            if digest is None:
                place.mkdir(mode=0o755, parents=True, exist_ok=True)
            else:
                place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
                self._file(path, place, size, digest, 0o555 if executable else 0o444)
        (self.draft / LISTING).unlink()
        self._tell(force=True)

    def _listed(self) -> Iterator[tuple[str, int, str | None, bool]]:
        """Path, size, SHA-256 (None: a folder) and whether it can be executed, of each entry."""
        listing = self.draft / LISTING
        self._file("", listing, None, self.copy.digest, 0o600, Path(self.copy.listing))
        with open(listing) as lines:
            for line in lines:
                path, size, digest, executable = json.loads(line)
                if os.path.isabs(path) or os.path.normpath(path) != path or path.startswith(".."):
                    raise self._damaged(path)
                yield path, size, digest, executable

    def _file(
        self, path: str, place: Path, size: int | None, digest: str, mode: int, source: Path | None = None
    ) -> None:
        """`size` None: however long it is. What of it is there already and wrong is fetched anew, once."""
        source = source or self.source / path
        target = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            if size is None:
                os.ftruncate(target, 0)
            before = self.done
            for begins_anew in (False, True):
                if begins_anew:
                    os.ftruncate(target, 0)
                    self.done = before
                found = hashlib.sha256()
                kept = self._hash_kept(target, size, found)
                self._fetch(source, target, kept, size, found)
                if found.hexdigest() == digest:
                    break
                if not kept:
                    raise self._damaged(path)
            os.fchmod(target, mode)
        except MountFailed:
            place.unlink(missing_ok=True)
            raise
        finally:
            os.close(target)

    def _hash_kept(self, target: int, size: int | None, found: "hashlib._Hash") -> int:
        """How much an earlier start has left of it."""
        if size is None:
            return 0
        if os.fstat(target).st_size > size:
            os.ftruncate(target, 0)
        at = 0
        while data := os.pread(target, CHUNK, at):
            found.update(data)
            at += len(data)
            self._advance(len(data))
        return at

    def _fetch(self, source: Path, target: int, at: int, size: int | None, found: "hashlib._Hash") -> None:
        """All from `at` on, whatever interrupts the storage meanwhile."""
        patient_until = time.monotonic() + self.patience_s
        while size is None or at < size:
            try:
                with open(source, "rb", buffering=0) as reading:
                    reading.seek(at)
                    while data := reading.read(CHUNK if size is None else min(CHUNK, size - at)):
                        _write_all(target, data, at)
                        found.update(data)
                        at += len(data)
                        self.fetched += len(data)
                        patient_until = time.monotonic() + self.patience_s
                        self._advance(len(data) if size is not None else 0)
                return  # all of it, or shorter than it should be, which its digest tells
            except OSError as error:
                self._bear(error, patient_until)

    def _bear(self, error: OSError, until: float) -> None:
        """Wait a moment for storage that does not answer. Raises MountFailed, or what cannot be mended by waiting."""
        if error.errno in _FULL:
            raise error
        if error.errno == errno.ENOENT and (self.marker is None or self.marker.exists()):
            raise MountFailed(Said(Code.DATASET_MISSING, {"name": self.copy.name})) from error
        if time.monotonic() > until:
            raise error
        self.report(Progress(Said(Code.WAITING_FOR_STORAGE, {"name": self.copy.name}), self._fraction()))
        self.tick()
        time.sleep(LOOK_S)

    def _damaged(self, path: str) -> MountFailed:
        return MountFailed(Said(Code.DATASET_DAMAGED, {"name": self.copy.name, "path": path or LISTING}))

    def _advance(self, count: int) -> None:
        self.done += count
        self.tick()
        self._tell()

    def _tell(self, force: bool = False) -> None:
        now = time.monotonic()
        if force or now - self._told > TELL_S:
            self._told = now
            said = Said(Code.COPYING_DATASET, {"name": self.copy.name, "size_bytes": self.copy.size})
            self.report(Progress(said, self._fraction(), self._left_s()))

    def _fraction(self) -> float:
        return round(min(1.0, self.done / self.copy.size), 4) if self.copy.size else 1.0

    def _left_s(self) -> float | None:
        """At the pace of what was fetched so far, once there is one."""
        if self.seconds < 1.0 or not self.fetched:
            return None
        return round((self.copy.size - self.done) * self.seconds / self.fetched, 1)


def _write_all(target: int, data: bytes, at: int) -> None:
    view = memoryview(data)
    while view:
        count = os.pwrite(target, view, at)
        view, at = view[count:], at + count
