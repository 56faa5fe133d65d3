"""Memory, CPU and process limits by control groups: version 2 where its root is ours to use, else version 1.

A group is named after the attempt, so whoever comes later (a driver that finds the shim dead) finds it too.
Every controller is optional: `limits` says which limits really hold.
"""

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from apps.workloads.drivers.local import processes

PARENT = "plstack"
MAX_PROCESSES = 8192
CPU_PERIOD_US = 100_000
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where each controller is mounted; with version 2 all have the same place."""

    version: int
    mounts: dict[str, Path]


def hierarchy(mount_table: Path = Path("/proc/self/mounts")) -> Hierarchy | None:
    """The hierarchy that has the memory controller, or None."""
    first: dict[str, Path] = {}
    for line in mount_table.read_text().splitlines():
        _, point, kind, options = line.split()[:4]
        if kind == "cgroup2" and _lists_memory(Path(point)):
            return Hierarchy(2, dict.fromkeys(("memory", "cpu", "pids"), Path(point)))
        if kind == "cgroup":
            found = set(options.split(",")) & {"memory", "cpu", "cpuacct", "pids"}
            first.update(dict.fromkeys(found, Path(point)))
    return Hierarchy(1, first) if "memory" in first else None


def _lists_memory(mount: Path) -> bool:
    try:
        return "memory" in (mount / "cgroup.controllers").read_text().split()
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Group:
    """The control group of one attempt. `limits` is the set of limits in force: memory, cpu, pids."""

    version: int
    directories: dict[str, Path]
    limits: frozenset[str] = frozenset()

    def join(self) -> None:
        """Moves the calling process (single-threaded) into the group; its children follow."""
        for directory in self._distinct():
            (directory / "cgroup.procs").write_text("0")

    def pids(self) -> list[int]:
        found: set[int] = set()
        for directory in self._distinct():
            with suppress(OSError):
                found.update(int(line) for line in (directory / "cgroup.procs").read_text().split())
        return sorted(found)

    def end_all(self, within_s: float) -> bool:
        """SIGKILL until the group is empty; False if it is not after `within_s`."""
        deadline = time.monotonic() + within_s
        while pids := self.pids():
            if time.monotonic() > deadline:
                return False
            processes.send(pids, signal.SIGKILL)
            time.sleep(0.02)
        return True

    def memory_bytes(self) -> int:
        """Working set: what is charged to the group less the file cache that the kernel can drop at any time."""
        directory = self.directories["memory"]
        charged = int((directory / ("memory.current" if self.version == 2 else "memory.usage_in_bytes")).read_text())
        key = "inactive_file" if self.version == 2 else "total_inactive_file"
        return max(0, charged - _fields(directory / "memory.stat").get(key, 0))

    def out_of_memory_kills(self) -> int:
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        return _fields(self.directories["memory"] / name).get("oom_kill", 0)

    def cpu_seconds(self) -> float | None:
        """CPU time of everything that ever ran in the group; None where it is not accounted."""
        with suppress(OSError, KeyError):
            if self.version == 2:
                return _fields(self.directories["cpu"] / "cpu.stat")["usage_usec"] / 1e6
            return int((self.directories["cpuacct"] / "cpuacct.usage").read_text()) / 1e9
        return None

    def remove(self) -> None:
        """Removes the empty group. The kernel needs a moment after the last process, hence the retries."""
        for directory in self._distinct():
            for _ in range(50):
                try:
                    directory.rmdir()
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.02)
                else:
                    break

    def _distinct(self) -> Iterable[Path]:
        return dict.fromkeys(self.directories.values())


def _fields(path: Path) -> dict[str, int]:
    lines = (line.split() for line in path.read_text().splitlines())
    return {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdigit()}


def create(name: str, memory_mib: int, cpu_milli: int, tree: Hierarchy | None = None) -> Group | None:
    """The limited group `name`, new or as it was; None when this process may not make one with a memory limit."""
    tree = tree or hierarchy()
    if tree is None:
        return None
    group = _make(tree, name)
    limits = frozenset(_limit(group, memory_mib, cpu_milli))
    if "memory" not in limits:
        group.remove()
        return None
    return Group(group.version, group.directories, limits)


def find(name: str, tree: Hierarchy | None = None) -> Group | None:
    """The group `name` if there is one."""
    tree = tree or hierarchy()
    if tree is None:
        return None
    there = {key: mount / PARENT / name for key, mount in tree.mounts.items() if (mount / PARENT / name).is_dir()}
    return Group(tree.version, there) if there else None


def _make(tree: Hierarchy, name: str) -> Group:
    made: dict[str, Path] = {}
    for controller, mount in tree.mounts.items():
        with suppress(OSError):
            (mount / PARENT).mkdir(exist_ok=True)
            if tree.version == 2:
                _delegate(mount)
            (mount / PARENT / name).mkdir(exist_ok=True)
            made[controller] = mount / PARENT / name
    return Group(tree.version, made)


def _delegate(mount: Path) -> None:
    """Version 2 gives children only the controllers that each ancestor passes on."""
    for directory in (mount, mount / PARENT):
        for controller in ("memory", "cpu", "pids"):
            with suppress(OSError):
                (directory / "cgroup.subtree_control").write_text(f"+{controller}")


def _limit(group: Group, memory_mib: int, cpu_milli: int) -> Iterable[str]:
    quota_us = max(1000, cpu_milli * CPU_PERIOD_US // 1000)
    memory = str(memory_mib * MIB)
    if group.version == 2:
        settings = {
            "memory": {"memory.max": memory, "memory.swap.max": "0", "memory.oom.group": "0"},
            "cpu": {"cpu.max": f"{quota_us} {CPU_PERIOD_US}"},
            "pids": {"pids.max": str(MAX_PROCESSES)},
        }
    else:
        settings = {
            "memory": {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory},
            "cpu": {"cpu.cfs_period_us": str(CPU_PERIOD_US), "cpu.cfs_quota_us": str(quota_us)},
            "pids": {"pids.max": str(MAX_PROCESSES)},
        }
    for controller, files in settings.items():
        if controller in group.directories and _write(group.directories[controller], files):
            yield controller


def _write(directory: Path, files: dict[str, str]) -> bool:
    """Whether the limit holds. Without swap accounting the swap files are missing, and that is no failure."""
    for name, value in files.items():
        path = directory / name
        if not path.exists() and "sw" in name:
            continue
        try:
            descriptor = os.open(path, os.O_WRONLY)
            try:
                os.write(descriptor, value.encode())
            finally:
                os.close(descriptor)
        except OSError:
            return False
    return True
