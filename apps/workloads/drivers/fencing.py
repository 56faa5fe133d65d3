"""Fences: files on the shared storage that name the attempts which must not run any more.

A machine that is cut off from the platform may still reach the storage that both share, where its work would write
beside the try that has been started elsewhere. The platform raises a fence before it starts another try, and the shim
of the old one looks at it: that needs neither the agent nor the network. A machine that reaches neither the platform
nor the storage can do no harm until one of them is back. A lease that runs out would end work whenever the platform is
away, which running work has to survive.

The file is made at the start and written to fence: opening a file that is there asks the server (close-to-open, as NFS
promises it), while one that is not there may be remembered as missing for a minute.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

FOLDER = ".plstack-fences"
LOOK_S = 2.0
FENCED_WITHIN = timedelta(seconds=2 * LOOK_S + 1)
"""From the fence until another try may start: a shim that reaches the storage has looked twice by then."""


def prepare(data: Path) -> None:
    """Make the folder below the root of the shared data. Raises OSError."""
    with suppress(FileExistsError):
        (data / FOLDER).mkdir(mode=0o755)


def make(data: Path, ref: str) -> None:
    """Make the fence, down, where it is not there. Raises OSError."""
    prepare(data)
    os.close(os.open(data / FOLDER / ref, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))


def put_up(data: Path, ref: str) -> None:
    """From now on the attempt must not run. Safe to repeat. Raises OSError."""
    prepare(data)
    descriptor = os.open(data / FOLDER / ref, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.write(descriptor, b"up\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_up(data: Path, ref: str) -> bool:
    """False also where nobody can say: what cannot be read is no order to end."""
    try:
        descriptor = os.open(data / FOLDER / ref, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return bool(os.read(descriptor, 1))
    except OSError:
        return False
    finally:
        os.close(descriptor)


def remove(data: Path, ref: str) -> None:
    """Nothing of the attempt is left to be fenced."""
    with suppress(OSError):
        (data / FOLDER / ref).unlink(missing_ok=True)


def watch(data: Path, ref: str, end: Callable[[], None]) -> None:
    """Call `end` once the fence is up, from a thread of its own: storage that hangs must not hold up anything else."""

    def look() -> None:
        with suppress(OSError):
            make(data, ref)
        while not is_up(data, ref):
            time.sleep(LOOK_S)
        end()

    threading.Thread(target=look, name="fence", daemon=True).start()
