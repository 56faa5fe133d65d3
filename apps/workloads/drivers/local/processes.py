"""Process trees, read from /proc: who descends from whom, what they use, and how to end them all."""

import os
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def _all() -> Iterator[int]:
    return (int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit())


def _stat(pid: int) -> list[str]:
    """Fields of /proc/<pid>/stat from the state on (index 0 is proc(5)'s field 3); [] when it is gone."""
    try:
        # The command name is in parentheses and may contain anything, also parentheses and spaces.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _is_live(stat: list[str]) -> bool:
    return bool(stat) and stat[0] not in ("Z", "X")


def descendants(root: int) -> list[int]:
    """Live descendants of `root`, without itself, parents before children."""
    children: dict[int, list[int]] = {}
    for pid in _all():
        stat = _stat(pid)
        if stat:
            children.setdefault(int(stat[1]), []).append(pid)
    found = list(children.get(root, ()))
    for pid in found:
        found.extend(children.get(pid, ()))
    return [pid for pid in found if _is_live(_stat(pid))]


def marked(name: str, value: str) -> list[int]:
    """Live processes whose environment at their start had `name=value`, as far as this user may read it."""
    needle = f"{name}={value}".encode()
    return [pid for pid in _all() if pid != os.getpid() and needle in _environment(pid) and _is_live(_stat(pid))]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def memory_bytes(pids: Iterable[int]) -> int:
    """Resident set sizes added up: pages that processes share are counted once for each."""
    total = 0
    for pid in pids:
        stat = _stat(pid)
        if len(stat) > 21:
            total += int(stat[21]) * PAGE_BYTES
    return total


def proportional_bytes(pids: Iterable[int], shared_bytes: int = 0) -> int:
    """Proportional set sizes added up: exact for a whole tree, but slow. 0 for what may not be read.

    `shared_bytes`: what files in memory take, mapped by a process or not; what of it is mapped counts once.
    """
    sizes = [_proportional(pid) for pid in pids]
    return sum(size for size, _ in sizes) + max(0, shared_bytes - sum(shared for _, shared in sizes))


def _proportional(pid: int) -> tuple[int, int]:
    """All of it, and what of it is shared memory."""
    try:
        lines = [line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()]
    except OSError:
        return 0, 0
    found = {line[0]: int(line[1]) * 1024 for line in lines if line[0] in ("Pss:", "Pss_Shmem:")}
    return found.get("Pss:", 0), found.get("Pss_Shmem:", 0)


def shared_memory_bytes(pid: int) -> int:
    """What lies in the /dev/shm that the process sees; 0 where that may not be read."""
    try:
        seen = os.statvfs(f"/proc/{pid}/root/dev/shm")
    except OSError:
        return 0
    return (seen.f_blocks - seen.f_bfree) * seen.f_frsize


def cpu_seconds(pids: Iterable[int]) -> float:
    """CPU time of these processes and of their children that were waited for."""
    ticks = 0
    for pid in pids:
        stat = _stat(pid)
        if len(stat) > 14:
            ticks += sum(int(field) for field in stat[11:15])
    return ticks / TICKS_PER_SECOND


def send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_marked(name: str, value: str, within_s: float) -> bool:
    """SIGKILL until no process with the mark is left; False if some still are after `within_s`."""
    deadline = time.monotonic() + within_s
    while survivors := marked(name, value):
        if time.monotonic() > deadline:
            return False
        send(survivors, signal.SIGKILL)
        time.sleep(0.02)
    return True
