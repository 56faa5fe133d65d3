"""What is run in place of the scanner, in the scanner's sandbox."""

import fcntl
import threading
from pathlib import Path

import pytest

from apps.registry.scanning import confinement
from apps.registry.scanning.choices import ScanProblem
from apps.registry.scanning.confinement import TARGET, Limits, Scanning
from apps.registry.scanning.layout import ScanFailed
from apps.workloads.drivers.local import sandbox
from tests.drivers.kit import eventually

pytestmark = [pytest.mark.programs, pytest.mark.skipif(bool(sandbox.obstacle()), reason="no sandbox here")]
HOLDS = """#!/bin/sh
exec 9> /tmp/held
flock 9
: > /tmp/holds
sleep 1000
"""


def is_free(path: Path) -> bool:
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_nothing_of_it_is_left_when_it_is_cancelled(tmp_path: Path) -> None:
    program, cancelled, scratch = tmp_path / "holds", threading.Event(), tmp_path / "scratch"
    program.write_text(HOLDS)
    program.chmod(0o755)
    folders = [scratch, tmp_path / "target", tmp_path / "database"]
    for folder in folders:
        folder.mkdir(mode=0o755)
    asked = Scanning(program, folders[2], folders[1], f"dir:{TARGET}", scratch, Limits(600, 1024, 16))
    held = scratch / "tmp"

    def cancel() -> None:
        eventually((held / "holds").exists, bool)
        cancelled.set()

    watcher = threading.Thread(target=cancel)
    watcher.start()
    with pytest.raises(ScanFailed) as failed:
        confinement.scan(asked, cancelled)
    watcher.join()
    assert failed.value.problem is ScanProblem.TIMED_OUT
    eventually(lambda: is_free(held / "held"), bool)
