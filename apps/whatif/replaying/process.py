"""Replay sides in a separate process and watch it."""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings

from apps.whatif.replaying.material import Material
from scheduler.replay import Report

LOOKED_EVERY_S = 0.5
TAIL = 600


class ClaimLost(Exception):
    """The scenario was cancelled, or another worker has claimed it."""


class TimeLimitExceeded(Exception):
    """The replay passed its time limit."""


class ProcessFailed(Exception):
    """The process ended without a result: out of memory, killed, or a crash. The argument is its last output."""


def reports_of(sides: Sequence[Material], tell: Callable[[float], bool], limit_s: float) -> list[Report]:
    """The sides' reports, in their order. `tell` gets the progress twice a second and returns whether to go on.

    Raises `ClaimLost`, `TimeLimitExceeded` or `ProcessFailed`; the process is gone by then.
    """
    with TemporaryDirectory(prefix="plstack-whatif-") as name:
        folder = Path(name)
        (folder / "input").write_bytes(pickle.dumps(list(sides)))
        with (folder / "said").open("wb") as said:
            child = _started(folder, said.fileno())
            try:
                _follow(child, folder, tell, time.monotonic() + limit_s)
            finally:
                child.kill()
                child.wait()
        if not (folder / "output").exists():
            raise ProcessFailed((folder / "said").read_text(errors="replace")[-TAIL:].strip())
        # Written by our own child, in a folder that nobody else may enter.
        found: list[Report] = pickle.loads((folder / "output").read_bytes())  # noqa: S301
        return found


def _started(folder: Path, said: int) -> subprocess.Popen[bytes]:
    # Neither secrets nor the database's address go with it. One thread; and the same order of sets each time.
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "apps.whatif.replaying.child", str(folder)],
        cwd=settings.BASE_DIR,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=said,
    )


def _follow(child: subprocess.Popen[bytes], folder: Path, tell: Callable[[float], bool], until: float) -> None:
    """Wait for its end."""
    while True:
        try:
            child.wait(LOOKED_EVERY_S)
        except subprocess.TimeoutExpired:
            if not tell(_progress(folder)):
                raise ClaimLost from None
            if time.monotonic() > until:
                raise TimeLimitExceeded from None
        else:
            return


def _progress(folder: Path) -> float:
    try:
        return float((folder / "progress").read_text())
    except (OSError, ValueError):
        return 0.0
