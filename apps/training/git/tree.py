"""The files of a commit as git lists them, and what of them may become a run's code."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import IO

from apps.common.errors import Invalid
from apps.storage.archives import MAX_BYTES, MAX_FILES
from apps.storage.safe_open import HIDDEN, split_path
from apps.training.git.problems import Failed, Problem

LONGEST_LINK = 4096
# As many links on one way as the kernel follows, see path_resolution(7).
MOST_HOPS = 40
CHUNK = 1 << 20
POINTER = b"version https://git-lfs.github.com/spec/v1\n"
LARGEST_POINTER = 1024


class Mode(StrEnum):
    """Kinds of entries, as git writes them."""

    FILE, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"
    # Written by old versions of git, and read as a plain file.
    GROUP = "100664"


@dataclass(frozen=True, slots=True)
class Entry:
    """`size` in bytes; 0 for a submodule."""

    path: str
    mode: Mode
    sha: str
    size: int

    @property
    def is_file(self) -> bool:
        return self.mode not in (Mode.LINK, Mode.SUBMODULE)


def listed(raw: bytes) -> list[Entry]:
    """What `git ls-tree -r -l -z` printed. Raises `Failed` for more than code may have, and names that it may not."""
    lines = [line for line in raw.split(b"\0") if line]
    if len(lines) > MAX_FILES:
        raise Failed(Problem.TOO_LARGE)
    found = [_entry(line) for line in lines]
    if sum(each.size for each in found) > MAX_BYTES:
        raise Failed(Problem.TOO_LARGE)
    if not any(each.mode is not Mode.SUBMODULE for each in found):
        raise Failed(Problem.EMPTY_FOLDER)
    return found


def _entry(line: bytes) -> Entry:
    about, _tab, name = line.partition(b"\t")
    try:
        mode, _kind, sha, size = about.decode("ascii").split()
        entry = Entry(name.decode(), Mode(mode), sha, int(size) if size.isdigit() else 0)
    except UnicodeDecodeError:
        raise Failed(Problem.NAME, (name.decode(errors="replace"),)) from None
    except ValueError:
        raise Failed(Problem.BROKEN) from None
    if not _is_allowed(entry.path):
        raise Failed(Problem.NAME, (entry.path,))
    return entry


def _is_allowed(path: str) -> bool:
    """Neither git's own folder, however a file system may spell it, nor what the platform calls files being written."""
    try:
        names = split_path(path)
    except Invalid:
        return False
    plain = "\\" not in path and "/".join(names) == path
    return plain and not any(name.lower() == ".git" or name.startswith(HIDDEN) for name in names)


def leaving(links: Mapping[str, str]) -> list[str]:
    """Those of `links` (target by path) that lead out of the tree, or on without end. What they lead to need not be."""
    return [path for path in links if not _stays(path, links)]


def _stays(path: str, links: Mapping[str, str]) -> bool:
    """Follows the names as the kernel does: a link on the way gives way to where it leads, `..` goes up from there."""
    waiting = list(reversed(PurePosixPath(path).parts))
    at: list[str] = []
    hops = 0
    while waiting:
        name = waiting.pop()
        if name == "..":
            if not at:
                return False
            at.pop()
            continue
        target = links.get("/".join([*at, name]))
        if target is None:
            at.append(name)
            continue
        hops += 1
        if hops > MOST_HOPS or target.startswith("/"):
            return False
        waiting.extend(reversed([part for part in target.split("/") if part not in ("", ".")]))
    return True


def contents(entries: Iterable[Entry], source: IO[bytes]) -> Iterator[tuple[Entry, "Content"]]:
    """Each entry with its bytes, from what `git cat-file --batch` printed for their names in this order.

    The bytes of one have to be read before the next is asked for. Raises `Failed` where it is not what was listed.
    """
    for entry in entries:
        if source.readline(200) != f"{entry.sha} blob {entry.size}\n".encode():
            raise Failed(Problem.BROKEN)
        content = Content(source, entry.size)
        yield entry, content
        if content.left or source.read(1) != b"\n":
            raise Failed(Problem.BROKEN)


@dataclass(slots=True)
class Content:
    source: IO[bytes]
    left: int
    begins: bytes = b""

    def chunks(self) -> Iterator[bytes]:
        """All of it, once. `begins` has the first bytes afterwards."""
        while self.left:
            data = self.source.read(min(CHUNK, self.left))
            if not data:
                raise Failed(Problem.BROKEN)
            self.left -= len(data)
            self.begins = self.begins or data[:LARGEST_POINTER]
            yield data
