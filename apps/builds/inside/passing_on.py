"""What one stage of a build passes on to later ones, for COPY --from: archives in a folder that it alone writes to.

A stage sees nothing but its own image: paths are looked up in it as in any root, so that links, whatever they say, lead
to its own files. What the platform has mounted there is none of them. Standard library only.
"""

import glob
import json
import os
import shutil
import stat
import tarfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path

# Beside this file, wherever it is mounted.
import step_cache  # type: ignore[import-not-found]

FILE, INSIDE = "f/", "d/"
"""In an archive: a file that was named, by its name; and what is in a folder that was named, by its path below it."""
CACHED = "cached.json"


class Refused(Exception):
    """In English, as all of the log is."""


def clear(folder: Path) -> None:
    """Of what steps, or an attempt before, have left there. Raises OSError."""
    for left in folder.iterdir():
        step_cache.remove(str(left))


def note_cached(folder: Path, count: int) -> None:
    (folder / CACHED).write_text(json.dumps(count))


def cached_before(passed_on: Path, number: int) -> int:
    """How many steps of all parts before were taken from the cache."""
    return int(json.loads((passed_on / str(number - 1) / CACHED).read_text())) if number else 0


def leave(patterns: list[str], archive_path: Path, hidden: str) -> None:
    """Write what the patterns name. `hidden`: the platform's own folder. Raises Refused, OSError."""
    mounted, roots = step_cache.mounts()
    linked: dict[tuple[int, int], str] = {}
    with tarfile.open(archive_path, "x", format=tarfile.PAX_FORMAT) as archive:
        for pattern in patterns:
            for path in _matching(pattern):
                real = os.path.realpath(path)
                _check_own(path, real, mounted - set(roots), hidden)
                _leave_one(archive, path, real, mounted | {hidden}, linked)


def _matching(pattern: str) -> list[str]:
    if os.path.exists(pattern):
        return [pattern]
    found = sorted(path for path in glob.glob(pattern, include_hidden=True) if os.path.exists(path))
    if not found:
        raise Refused(f"{pattern} is not in the stage")
    return found


def _check_own(path: str, real: str, foreign: frozenset[str], hidden: str) -> None:
    if any(real == place or real.startswith(f"{place}/") for place in (*foreign, hidden)):
        raise Refused(f"{path} leads to {real}, which is none of the stage's files")


def _leave_one(
    archive: tarfile.TarFile, path: str, real: str, skipped: frozenset[str], linked: dict[tuple[int, int], str]
) -> None:
    kind = os.stat(real).st_mode
    if stat.S_ISREG(kind):
        step_cache.add(archive, real, linked, f"{FILE}{os.path.basename(path)}")
    elif stat.S_ISDIR(kind):
        archive.addfile(_folder(real))
        for below, _seen in step_cache.below(real, skipped):
            step_cache.add(archive, below, linked, f"{INSIDE}{os.path.relpath(below, real)}")
    else:
        raise Refused(f"{path} is neither a file nor a folder")


def _folder(path: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(INSIDE.rstrip("/"))
    info.type, info.mode = tarfile.DIRTYPE, stat.S_IMODE(os.stat(path).st_mode)
    return info


def put_in_place(archive_path: Path, target: str, mode: int | None) -> None:
    """At `target`: a folder where it ends with a slash, or there is more than one file. Raises Refused, OSError."""
    folders: dict[str, int] = {}
    with tarfile.open(archive_path) as archive:
        names = {info.name for info in archive if info.name.startswith(FILE)}
        is_folder = target.endswith("/") or len(names) > 1
        for info in archive:
            if info.name.startswith(FILE):
                place = os.path.join(target, info.name.removeprefix(FILE)) if is_folder else target
                _put_file(archive, info, place, mode, _place_of(info, target, is_folder))
            else:
                _put_inside(archive, info, os.path.normpath(f"{target}/{info.name[2:]}"), mode, target, folders)
    for path in sorted(folders, reverse=True):  # what is inside a folder before the folder
        os.chmod(path, folders[path])


def _place_of(info: tarfile.TarInfo, target: str, is_folder: bool) -> str:
    """Of the file that a hard link is one with."""
    if info.linkname.startswith(FILE):
        return os.path.join(target, info.linkname.removeprefix(FILE)) if is_folder else target
    return os.path.join(target, info.linkname.removeprefix(INSIDE))


def _put_inside(
    archive: tarfile.TarFile, info: tarfile.TarInfo, place: str, mode: int | None, target: str, folders: dict[str, int]
) -> None:
    if not info.isdir():
        _put_file(archive, info, place, mode, _place_of(info, target, True))
        return
    if not os.path.isdir(place):
        with suppress(NotADirectoryError):
            step_cache.remove(place)
        os.makedirs(place)
        folders[place] = info.mode
        os.chmod(place, 0o700)


def _put_file(archive: tarfile.TarFile, info: tarfile.TarInfo, place: str, mode: int | None, original: str) -> None:
    if os.path.isdir(place) and not os.path.islink(place):
        raise Refused(f"{place} is a folder already")
    os.makedirs(os.path.dirname(place), exist_ok=True)
    step_cache.remove(place)
    if info.issym():
        os.symlink(info.linkname, place)
        os.utime(place, (info.mtime, info.mtime), follow_symlinks=False)
    elif info.islnk():
        os.link(original, place)
    else:
        with open(place, "xb") as file:
            shutil.copyfileobj(archive.extractfile(info) or BytesIO(), file, 1 << 20)
        os.utime(place, (info.mtime, info.mtime))
        os.chmod(place, info.mode if mode is None else mode)
