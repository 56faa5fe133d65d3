"""Trees that the program finds as its own, copied before it exists. Standard library only.

A copy appears under its name in one step, whole. What is there already stays: an earlier attempt's, or a program's that
went on from it.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from apps.workloads.drivers.base import Progress
from apps.workloads.drivers.local.linux import remove_tree
from apps.workloads.drivers.local.mounting import MountFailed
from apps.workloads.drivers.local.records import RunSpec
from apps.workloads.drivers.local.volumes import HostMount
from apps.workloads.drivers.said import Code, Said

CHUNK = 8 << 20
DRAFT = ".plstack-copy-"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_CANNOT = frozenset({errno.EXDEV, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.EBADF})
Tick = Callable[[], None]


def place(spec: RunSpec, tick: Tick, report: Callable[[Progress], None]) -> None:
    """Make the copies of `spec` that are not there yet; of a gang, its first member does.

    `tick` is called for each piece, and may raise to give up. Raises `MountFailed`.
    """
    if spec.request.gang is not None and spec.request.gang.rank:
        return
    for copy in spec.copies:
        folder = _folder(spec, os.path.dirname(copy.target))
        if folder is None:
            continue  # `mounting.prepare` says what is wrong with the mount
        _clear_drafts(folder)
        if not os.path.lexists(folder / os.path.basename(copy.target)):
            _place(copy, folder, folder / f"{DRAFT}{spec.request.attempt_id}", tick, report)


def _folder(spec: RunSpec, target: str) -> Path | None:
    found = (Path(mount.source) for mount in spec.mounts if mount.target == target and not mount.read_only)
    return next((path for path in found if path.is_dir() and os.path.realpath(path) == str(path)), None)


def _clear_drafts(folder: Path) -> None:
    """Of attempts that died while they copied."""
    for left in folder.glob(f"{DRAFT}*"):
        remove_tree(left)


def _place(copy: HostMount, folder: Path, draft: Path, tick: Tick, report: Callable[[Progress], None]) -> None:
    try:
        if os.path.realpath(copy.source) != copy.source:
            raise MountFailed(Said(Code.COPY_MISSING))
        total = max(1, sum(_size(path) for path in _files(Path(copy.source))))
        report(Progress(Said(Code.COPYING), 0.0))
        done = 0

        def copied(count: int) -> None:
            nonlocal done
            done += count
            report(Progress(Said(Code.COPYING), min(1.0, round(done / total, 2))))
            tick()

        _copy_tree(Path(copy.source), draft, copied)
        draft.rename(folder / os.path.basename(copy.target))
    except FileNotFoundError as error:
        raise MountFailed(Said(Code.COPY_MISSING)) from error
    except OSError as error:
        full = error.errno in _FULL
        said = Said(Code.NO_ROOM_FOR_COPY) if full else Said(Code.FOLDERS_NOT_PREPARED, {"error": str(error.strerror)})
        raise MountFailed(said) from error
    finally:
        if os.path.lexists(draft):
            remove_tree(draft)


def _files(root: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        yield from (Path(folder, name) for name in names)


def _size(path: Path) -> int:
    with suppress(FileNotFoundError):
        return path.lstat().st_size
    return 0


def _copy_tree(source: Path, target: Path, copied: Callable[[int], None]) -> None:
    """Files, folders and links as they are, with their modes and times; links are not followed."""
    target.mkdir(mode=0o755)
    with os.scandir(source) as entries:
        for entry in entries:
            place = target / entry.name
            if entry.is_symlink():
                place.symlink_to(os.readlink(entry.path))
            elif entry.is_dir():
                _copy_tree(Path(entry.path), place, copied)
            elif entry.is_file():
                _copy_file(Path(entry.path), place, copied)


def _copy_file(source: Path, target: Path, copied: Callable[[int], None]) -> None:
    with open(source, "rb") as reading, open(target, "xb") as writing:
        status = os.fstat(reading.fileno())
        send = _send_shared
        while True:
            try:
                count = send(reading.fileno(), writing.fileno())
            except OSError as error:
                if send is _send or error.errno not in _CANNOT:
                    raise
                send = _send
                continue
            if not count:
                break
            copied(count)
        os.fchmod(writing.fileno(), status.st_mode & 0o777 | 0o600)
        os.fsync(writing.fileno())
        os.utime(writing.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))


def _send_shared(source: int, target: int) -> int:
    """Shares the blocks where the file system can, so that the copy takes no room until it is changed."""
    return os.copy_file_range(source, target, CHUNK)


def _send(source: int, target: int) -> int:
    return os.sendfile(target, source, None, CHUNK)
