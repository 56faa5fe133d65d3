"""Holds one workload to its limits on disk, and ends it where it has filled a disk that others need as well.

Project quotas would do the first in the kernel, but hardly a machine has them switched on, and a file system in memory
of a fixed size would be paid for in memory. So it is measured, as memory is where there are no control groups: a little
in each turn of the shim, more when the disk runs short. Standard library only.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from apps.workloads.drivers.base import ExitReason
from apps.workloads.drivers.local import disk_usage
from apps.workloads.drivers.local.disk_floor import Pressure, Record, Seat, Space, chosen
from apps.workloads.drivers.local.disk_usage import Count, TooDeep
from apps.workloads.drivers.local.environment import SANDBOX_TMP
from apps.workloads.drivers.local.oci.entering import upper
from apps.workloads.drivers.local.records import RunDirectory, RunSpec
from apps.workloads.drivers.said import Code, Said

MIB = 1024 * 1024
GRACE_S = 10.0
"""For a workload above its limits to save what it has."""
BUDGET_S, HURRIED_BUDGET_S, FIRST_BUDGET_S = 0.005, 0.05, 1.0
PAUSE_S, PAUSE_FACTOR = 1.0, 10
DELETED_EVERY_S = {Pressure.NONE: 5.0, Pressure.NEAR: 1.0, Pressure.LOW: 0.0, Pressure.CRITICAL: 0.0}
REMEMBER_S = 60.0
# A tree that was above its limit when the workload started, such as a home, may grow by this much: it is to be tidied.
ROOM_TO_TIDY = 1024 * MIB

Members = Callable[[], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Breach:
    """Why the workload has to end. `urgent`: at once."""

    reason: ExitReason
    said: Said
    urgent: bool = False


@dataclass(slots=True)
class Tree:
    """Folders with a limit in common. `scratch`: what they hold goes when the workload ends. `size` in bytes."""

    name: str
    roots: tuple[str, ...]
    limit: int
    scratch: bool = False
    size: int = 0
    files: int = 0
    local: bool = True
    """Whether they are on the disk that the platform needs, too."""


class Pass:
    """One count of all trees; `size` and `files` of the trees follow it once it is further than the last one was."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.counts = [(tree, [Count(root) for root in tree.roots]) for tree in trees]
        self.seconds = 0.0
        self._steps = self._all()

    def _all(self) -> Iterator[None]:
        for _, counts in self.counts:
            for count in counts:
                yield from count.steps()

    def is_done(self, budget_s: float) -> bool:
        """Counts on for about so long. Raises `TooDeep`."""
        began = time.monotonic()
        for _ in self._steps:
            if time.monotonic() - began > budget_s:
                self.seconds += budget_s
                return False
        self.seconds += time.monotonic() - began
        return True

    def sums(self) -> list[tuple[Tree, int, int]]:
        return [(tree, sum(c.size for c in counts), sum(c.files for c in counts)) for tree, counts in self.counts]


class DiskWatch:
    """To be turned several times a second while the workload runs. `members`: its processes."""

    def __init__(
        self, spec: RunSpec, run: RunDirectory, members: Members, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Raises OSError where the disk has no room for what a later decision needs."""
        self._run, self._members, self._clock = run, members, clock
        self._limits = spec.request.disk
        self._device = os.stat(run.path).st_dev
        self._trees = _trees(spec, run)
        for tree in self._trees:
            tree.local = _device(tree.roots[0]) in (self._device, None)
        mounts = spec.mounts
        self._shares = any(
            not m.read_only and m.limit_mib is None and _device(m.source) == self._device for m in mounts
        )
        self._seat = Seat(run.path.parent, run.path.name, clock)
        self._pass: Pass | None = None
        self._first, self._ended = True, False
        self._suspect: Breach | None = None
        self._next_pass, self._deleted_at = 0.0, clock()
        self._deleted = self._written = 0
        self._low_since: float | None = None
        self._written_by: dict[int, int] = {}
        self._past: deque[tuple[float, int, int, int]] = deque()

    def begin(self) -> None:
        """Count what is there before the workload is: what it writes in its first moment is its own."""
        with suppress(OSError, TooDeep):
            self._pass = Pass(self._trees)
            if self._pass.is_done(FIRST_BUDGET_S):
                for tree, size, files in self._pass.sums():
                    tree.size, tree.files = size, files
                self._passed(self._clock(), hurried=False)

    def deleted_bytes(self) -> int:
        """Of files without a name that the workload holds."""
        return disk_usage.deleted_bytes(self._members(), frozenset({self._device}))

    def turn(self) -> Breach | None:
        """The reason to end the workload, found in this turn."""
        with suppress(OSError):
            began = self._clock()
            space = Space.of(self._run.path)
            pressure = space.pressure
            breach = self._count(pressure)
            self._remember(pressure, began)
            return self._choose(space, pressure, began) or breach
        return None

    def leave(self) -> None:
        """Once its scratch is gone."""
        self._seat.leave(self._ended)

    def _count(self, pressure: Pressure) -> Breach | None:
        now = self._clock()
        hurried = pressure > Pressure.NONE
        if now - self._deleted_at >= DELETED_EVERY_S[pressure]:
            self._deleted_at = now
            self._deleted = self.deleted_bytes()
        if self._pass is None:
            if now < self._next_pass and not hurried:
                return None
            self._pass = Pass(self._trees)
        try:
            done = self._pass.is_done(HURRIED_BUDGET_S if hurried else BUDGET_S)
        except TooDeep:
            return Breach(ExitReason.FILE_LIMIT, Said(Code.FOLDERS_TOO_DEEP, {"count": disk_usage.MAX_DEPTH}))
        sums = self._pass.sums()
        for tree, size, files in sums:
            tree.size = size if done else max(size, tree.size)
            tree.files = files if done else max(files, tree.files)
        breach = self._breach(sums)
        if breach is not None and self._suspect is None:
            # What was moved while it was counted may have counted twice: count again.
            self._suspect, self._pass, self._next_pass = breach, None, now
            return None
        if done:
            self._passed(now, hurried)
        return breach

    def _passed(self, now: float, hurried: bool) -> None:
        seconds = 0.0 if self._pass is None or hurried else max(PAUSE_S, PAUSE_FACTOR * self._pass.seconds)
        self._pass, self._suspect, self._next_pass = None, None, now + seconds
        if self._first:
            self._first = False
            for tree in self._trees:
                if not tree.scratch and tree.size > tree.limit:
                    tree.limit = tree.size + ROOM_TO_TIDY

    def _breach(self, sums: Sequence[tuple[Tree, int, int]]) -> Breach | None:
        """Before the first count is over, how large the mounts were at first is not known."""
        known = [each for each in sums if each[0].scratch or not self._first]
        for tree, size, _ in known:
            if size + (self._deleted if tree.scratch else 0) > tree.limit:
                said = Said(Code.DISK_EXCEEDED, {"place": tree.name, "limit_mib": tree.limit // MIB})
                return Breach(ExitReason.DISK_LIMIT, said)
        if sum(files for _, _, files in known) > self._limits.files:
            return Breach(ExitReason.FILE_LIMIT, Said(Code.TOO_MANY_FILES, {"count": self._limits.files}))
        return None

    def _remember(self, pressure: Pressure, began: float) -> None:
        """What it held in the last minute, second by second."""
        now = self._clock()
        if self._past and now - self._past[-1][0] < 1.0 and pressure < Pressure.LOW:
            return
        if self._shares:
            written = disk_usage.written_bytes(self._members())
            self._written += sum(max(0, size - self._written_by.get(pid, 0)) for pid, size in written.items())
            self._written_by = written
        local = [tree for tree in self._trees if tree.local]
        log = os.stat(self._run.log).st_size
        size, files = sum(tree.size for tree in local) + self._deleted + log, sum(tree.files for tree in local)
        self._past.append((now, size, files, self._written))
        since = max(now - REMEMBER_S, min(now, self._seat.last_end()))
        while self._past[0][0] < since:
            self._past.popleft()
        scratch = [tree for tree in local if tree.scratch]
        held = sum(tree.size for tree in scratch) + self._deleted
        least, least_files = min(each[1] for each in self._past), min(each[2] for each in self._past)
        grown = max(size - least, self._written - self._past[0][3])
        self._seat.write(Record(held, grown, sum(tree.files for tree in scratch), files - least_files), began)

    def _choose(self, space: Space, pressure: Pressure, began: float) -> Breach | None:
        """Not before the others have measured below the floor, too."""
        if pressure < Pressure.LOW:
            self._low_since = None
            return None
        if self._low_since is None:
            self._low_since = began
            return None
        if not self._seat.all_measured(self._low_since):
            return None
        now = self._clock()
        if chosen(space, self._seat.read_all(), now) != self._run.path.name:
            return None
        self._ended = True
        self._seat.write(Record(ending=True), now)
        used_files = space.files_pressure >= Pressure.LOW
        said = Said(Code.DISK_FULL_OF_FILES if used_files else Code.DISK_FULL)
        return Breach(ExitReason.DISK_FULL, said, urgent=True)


def _trees(spec: RunSpec, run: RunDirectory) -> list[Tree]:
    own = (str(run.temporary), str(run.scratch), str(run.ports), str(upper(run.root)))
    found = [Tree(SANDBOX_TMP, own, spec.request.disk.scratch_mib * MIB, scratch=True)]
    for mount in spec.mounts:
        if mount.limit_mib is not None and not mount.read_only:
            found.append(Tree(mount.target, (mount.source,), mount.limit_mib * MIB))
    return found


def _device(path: str) -> int | None:
    try:
        return os.stat(path).st_dev
    except OSError:
        return None


def largest_file(spec: RunSpec) -> int | None:
    """Bytes beyond which no file of the workload's can be within its limits, holes included; None for no such size."""
    writable = [mount.limit_mib for mount in spec.mounts if not mount.read_only]
    limits = [limit for limit in writable if limit is not None]
    if len(limits) < len(writable):
        return None
    return max(spec.request.disk.scratch_mib, spec.request.memory_mib, *limits) * MIB
