"""Whether the platform's files can be used from this machine: what a start does to them, tried. Standard library only.

A folder is made and given to a tenant's user id, as a run's output is. As that user a file is written, put on the disk,
and read back; it must be that user's. Where the agent is not root, all is done as its own user, as its runs are.
"""

import errno
import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

MARKER = ".plstack-root"
FOLDER = ".plstack-probe"
LEFT_S = 3600.0
HANGS, DENIED, OTHER_OWNER, FULL, DAMAGED, FAILED = "hangs", "denied", "other_owner", "full", "damaged", "failed"


def result(**found: Any) -> dict[str, Any]:
    return {"marker": "", "problem": "", "write_ms": 0.0, "free_bytes": 0, **found}


def parse(output: str) -> dict[str, Any]:
    try:
        found = json.loads(output)
    except ValueError:
        return result(problem=FAILED)
    return result(**found)


def main() -> None:
    """`data` and the user id, -1 for one's own, are its arguments."""
    data, uid = Path(sys.argv[2]), int(sys.argv[3])
    sys.stdout.write(json.dumps(probe(data, uid)))


def probe(data: Path, uid: int) -> dict[str, Any]:
    try:
        marker = (data / MARKER).read_text().strip()
        space = os.statvfs(data)
    except OSError:
        return result()
    found = {"marker": marker, "free_bytes": space.f_bavail * space.f_frsize}
    began = time.monotonic()
    try:
        problem = _tried(data, uid)
    except OSError as error:
        problem = _problem(error)
    return result(**found, problem=problem, write_ms=round((time.monotonic() - began) * 1000, 1))


def _tried(data: Path, uid: int) -> str:
    (data / FOLDER).mkdir(mode=0o711, exist_ok=True)
    _sweep(data / FOLDER)
    place = data / FOLDER / uuid4().hex
    place.mkdir(mode=0o700)
    try:
        if uid >= 0:
            os.chown(place, uid, uid)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.write(writer, _as_user(place, uid).encode())
            os._exit(0)
        os.close(writer)
        with open(reader) as told:
            text = told.read()
        os.waitpid(child, 0)
        return FAILED if text == "" else text.strip()
    finally:
        _remove(place)


def _sweep(folder: Path) -> None:
    """What probes left, here or on other machines, that were killed while the storage hung."""
    for left in folder.iterdir():
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > LEFT_S:
                _remove(left)


def _remove(place: Path) -> None:
    with suppress(OSError):
        for file in place.iterdir():
            file.unlink()
        place.rmdir()


def _as_user(place: Path, uid: int) -> str:
    """The problem, or " " for none. In a process of its own, which gives up what it may do."""
    try:
        os.chdir(place)  # the folders above may be closed to it, as they are to what sandboxes show of them
        if uid >= 0:
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
        content = os.urandom(4096)
        path = Path("file")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(descriptor, content)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if path.stat().st_uid != (uid if uid >= 0 else os.geteuid()):
            return OTHER_OWNER
        return " " if path.read_bytes() == content else DAMAGED
    except OSError as error:
        return _problem(error)


def _problem(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FULL
    return DENIED if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else FAILED
