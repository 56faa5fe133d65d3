"""What each step of a build changed, as archives: those of earlier builds are put in place, new ones are kept.

Archives are found in a folder that only the platform writes to, and are believed for the digest that is told there.
New ones go by a folder that steps can write to as well; so they have no name there while a step runs, and get one when
no program of a step is left. Changes are told from two looks at all files, by what the kernel alone sets (ctime).
Standard library only.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import stat
import tarfile
import time
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

LAYER, GONE, FOUND = "layer.tar", ".plstack-gone", "found.json"
MOST_FILES = 600_000
TICK_S = 0.02
"""Files changed after a look differ from it: longer than the kernel's clock for them stands still."""
OWN = os.getuid()
"""Asked before the process makes itself believe that it is root."""
WRITABLE = stat.S_IWUSR | stat.S_IXUSR
_OCTAL = re.compile(r"\\([0-7]{3})")


class StepCache:
    """`told`: of the plan; None where nothing is taken or kept. `scratch`: mounts whose files steps pass on as well."""

    def __init__(self, told: dict[str, Any] | None, cached: Path, kept: Path, part: int = 0) -> None:
        """`kept`: of all parts, of which each may write to its own alone."""
        self._steps: list[dict[str, Any]] = told["steps"] if told else []
        self._left: int = told["most_bytes"] if told else 0
        self._cached, self._all_kept, self._kept = cached, kept, kept / str(part)
        self._digests: dict[str, dict[str, str]] = json.loads((cached / FOUND).read_text()) if told else {}
        self._takes = self._keeps = told is not None
        self._made: dict[int, int] = {}
        self._seen: dict[str, int] | None = None
        self.problem = ""
        """Why no more is kept, in English, as all of the log is."""
        self._skipped, self._roots = mounts()

    def take(self, number: int) -> bool:
        """Put the changes of the step in place; False where they are not there as they were kept. Raises OSError."""
        if not self._takes:
            return False
        path = self._found(number) or self._same(number)
        if path is None:
            self._takes = False  # what comes after was made on top of it
            return False
        put_in_place(path)
        return True

    def _found(self, number: int) -> Path | None:
        """What an earlier build kept of it."""
        machine = platform.machine()
        digest = self._digests.get(str(number), {}).get(machine)
        path = self._cached / f"{number}.{machine}" / LAYER
        return path if digest is not None and _is_whole(path, digest) else None

    def _same(self, number: int) -> Path | None:
        """What an earlier part of this build, which nothing can change any more, has just kept of the same step."""
        paths = (self._all_kept / str(part) / str(same) / LAYER for part, same in self._steps[number - 1]["same"])
        return next((path for path in paths if path.is_file()), None)

    def watch(self, number: int) -> None:
        """Call before the step is carried out."""
        if self._keeps and not self._steps[number - 1]["keep"]:
            self._stop("what an address answers is not known before")
        if self._keeps and self._seen is None:
            try:
                self._seen = look(self._roots, self._skipped)
            except OSError as error:
                self._stop(str(error))

    def keep(self, number: int, as_planned: bool = True) -> None:
        """Call after it, when nothing of it runs any more. Whatever goes wrong, no more is kept than was by then."""
        if not self._keeps or self._seen is None:
            return
        if not as_planned:
            return self._stop("the files are not those that were there when it was submitted")
        try:
            after = look(self._roots, self._skipped)
            self._made[number] = self._archive(self._seen, after)
        except (OSError, tarfile.TarError, UnicodeError) as error:
            return self._stop(str(error))
        self._seen = after

    def publish(self) -> None:
        """Give what was kept its names, in a folder that has nothing else. Raises OSError."""
        for left in list(self._kept.iterdir()) if self._kept.is_dir() else ():
            remove(str(left))
        for number, descriptor in self._made.items():
            folder = self._kept / str(number)
            folder.mkdir()
            target = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            # With a descriptor, os.link takes linkat(2), which alone follows the link that /proc has for an open file.
            os.link(f"/proc/self/fd/{descriptor}", LAYER, src_dir_fd=target, dst_dir_fd=target, follow_symlinks=True)
            os.close(target)

    def _stop(self, why: str) -> None:
        self._keeps, self._seen, self.problem = False, None, why

    def _archive(self, before: dict[str, int], after: dict[str, int]) -> int:
        """A descriptor of the archive. Raises OSError, also where it would be too large."""
        changed, gone = differences(before, after, self._roots)
        size = sum(seen.st_size for seen in map(os.lstat, changed) if stat.S_ISREG(seen.st_mode))
        if size > self._left:
            raise OSError("they hold more than the cache does")
        descriptor = os.open(self._kept, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(os.dup(descriptor), "wb") as file:
                write(file, changed, gone)
            self._left -= os.fstat(descriptor).st_size
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


def mounts() -> tuple[frozenset[str], tuple[str, ...]]:
    """What is mounted and so no part of the image, and where to look for what steps change."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        lines = [line.split() for line in file]
    places = frozenset(_OCTAL.sub(lambda match: chr(int(match[1], 8)), line[4]) for line in lines) - {"/"}
    scratch = ("/run", "/dev/shm", os.environ.get("TMPDIR", "/tmp"))  # noqa: S108 - the sandbox's own
    return places, ("/", *(place for place in dict.fromkeys(scratch) if place in places))


def look(roots: tuple[str, ...], skipped: frozenset[str]) -> dict[str, int]:
    """Of each path below, a number that changes with its file. Raises OSError where not all can be seen."""
    found: dict[str, int] = {}
    for root in roots:
        for path, seen in below(root, skipped):
            if not _is_layered(seen):
                continue
            found[path] = _mark(seen)
            if len(found) > MOST_FILES:
                raise OSError(f"there are more than {MOST_FILES} files")
    time.sleep(TICK_S)
    return found


def differences(before: dict[str, int], after: dict[str, int], roots: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """What was made or changed, folders before what is in them; and what is gone, without what was in it."""
    left = after.keys() | set(roots)
    gone = sorted(path for path in before.keys() - after.keys() if os.path.dirname(path) in left)
    return sorted(path for path, mark in after.items() if before.get(path) != mark), gone


def below(folder: str, skipped: frozenset[str]) -> Iterator[tuple[str, os.stat_result]]:
    waiting = [folder]
    while waiting:
        place = waiting.pop()
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except PermissionError:
            if os.lstat(place).st_uid == OWN:
                raise
            continue  # on the way to what the platform has mounted, and closed to steps as well
        for entry in entries:
            if entry.path in skipped:
                continue
            seen = entry.stat(follow_symlinks=False)
            yield entry.path, seen
            if stat.S_ISDIR(seen.st_mode):
                waiting.append(entry.path)


def _is_layered(seen: os.stat_result) -> bool:
    """Pipes and sockets are nothing without who made them: no layer has them, and what they replaced is gone."""
    return stat.S_ISDIR(seen.st_mode) or stat.S_ISREG(seen.st_mode) or stat.S_ISLNK(seen.st_mode)


def _mark(seen: os.stat_result) -> int:
    if stat.S_ISDIR(seen.st_mode):  # its other times change with what is in it
        return hash(seen.st_mode)
    return hash((seen.st_mode, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns))


def write(file: Any, changed: list[str], gone: list[str]) -> None:
    """Raises OSError, tarfile.TarError."""
    linked: dict[tuple[int, int], str] = {}
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        body = json.dumps(gone).encode()
        first = tarfile.TarInfo(GONE)
        first.size = len(body)
        archive.addfile(first, BytesIO(body))
        for path in changed:
            add(archive, path, linked)


def add(archive: tarfile.TarFile, path: str, linked: dict[tuple[int, int], str], name: str = "") -> None:
    """Under its own path, or `name`."""
    seen = os.lstat(path)
    info = tarfile.TarInfo(name or path.lstrip("/"))
    info.mode, info.mtime = stat.S_IMODE(seen.st_mode), seen.st_mtime_ns / 1e9
    if stat.S_ISDIR(seen.st_mode):
        info.type = tarfile.DIRTYPE
    elif stat.S_ISLNK(seen.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(path)
    elif not stat.S_ISREG(seen.st_mode):
        return
    elif (first := linked.setdefault((seen.st_dev, seen.st_ino), info.name)) != info.name:
        info.type, info.linkname = tarfile.LNKTYPE, first
    else:
        info.size = seen.st_size
        with open(_readable(path, seen), "rb") as file:
            archive.addfile(info, file)
        return
    archive.addfile(info)


def _readable(path: str, seen: os.stat_result) -> int:
    """A descriptor of the file, also of one that its owner has closed to itself: root would read it. Raises OSError."""
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except PermissionError:
        os.chmod(path, 0o400)
        try:
            return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        finally:
            os.chmod(path, stat.S_IMODE(seen.st_mode))


def _is_whole(path: Path, digest: str) -> bool:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return False


def put_in_place(archive_path: Path) -> None:
    """Raises OSError, tarfile.TarError."""
    modes: dict[str, int] = {}
    with tarfile.open(archive_path) as archive:
        for info in archive:
            path = f"/{info.name}"
            _open_folder(os.path.dirname(path), modes)
            if info.name == GONE:
                for gone in json.load(archive.extractfile(info) or BytesIO(b"[]")):
                    _open_folder(os.path.dirname(gone), modes)
                    remove(gone)
            elif info.isdir():
                if not stat.S_ISDIR(_mode(path)):
                    remove(path)
                    os.mkdir(path)
                os.chmod(path, 0o700)
                modes[path] = info.mode
            else:
                remove(path)
                _make(archive, info, path)
    for path in sorted(modes, reverse=True):  # what is inside a folder before the folder
        os.chmod(path, modes[path])


def _make(archive: tarfile.TarFile, info: tarfile.TarInfo, path: str) -> None:
    if info.issym():
        os.symlink(info.linkname, path)
        os.utime(path, (info.mtime, info.mtime), follow_symlinks=False)
    elif info.islnk():
        os.link(f"/{info.linkname}", path)
    else:
        with open(path, "xb") as file:
            shutil.copyfileobj(archive.extractfile(info) or BytesIO(), file, 1 << 20)
        os.utime(path, (info.mtime, info.mtime))
        os.chmod(path, info.mode)


def _open_folder(path: str, modes: dict[str, int]) -> None:
    """Lets its owner change what is in it; `modes` says how it is in the end."""
    mode = _mode(path)
    if mode and path not in modes and mode & WRITABLE != WRITABLE:
        modes[path] = stat.S_IMODE(mode)
        os.chmod(path, 0o700)


def _mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except FileNotFoundError:
        return 0


def remove(path: str) -> None:
    if stat.S_ISDIR(_mode(path)):
        shutil.rmtree(path)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)
