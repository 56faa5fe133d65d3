"""The platform's files as this machine sees them: their marker, their mount, and whether they can be used.

All of it is found out in a process of its own: a mount whose server is gone stops whoever touches it, and that must not
be the agent, which has to tell of it.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psutil

from apps.workloads.drivers.local import accounts
from plstack.agent import storage_probe

PROBE_S = 5.0
PROJECT = Path(__file__).resolve().parents[2]
BOOT = "import sys; sys.path.append(sys.argv[1]); from plstack.agent import storage_probe; storage_probe.main()"


class Prober:
    """Probes one folder, one probe at a time: one that hangs is waited for by no other."""

    def __init__(self, data: Path, timeout_s: float = PROBE_S) -> None:
        self._data, self._timeout_s = Path(os.path.abspath(data)), timeout_s
        self._hanging: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def report(self) -> dict[str, Any]:
        """For a heartbeat. `marker` is "" where the folder is not a platform's, as after its mount was lost."""
        with self._lock:
            found = self._probe()
        mounts = [each for each in psutil.disk_partitions(all=True) if self._data.is_relative_to(each.mountpoint)]
        # The last of several at one place covers those before it.
        nearest = max(enumerate(mounts), key=lambda each: (len(each[1].mountpoint), each[0]), default=None)
        kind, source = (nearest[1].fstype, nearest[1].device) if nearest else ("", "")
        return {**found, "kind": kind, "source": source, "root": str(self._data)}

    def _probe(self) -> dict[str, Any]:
        if self._hanging is not None and self._hanging.poll() is None:
            return storage_probe.result(problem=storage_probe.HANGS)
        self._hanging = None
        uid = accounts.FIRST_UID if os.geteuid() == 0 else -1
        argv = [sys.executable, "-I", "-S", "-c", BOOT, str(PROJECT), str(self._data), str(uid)]
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd="/")
        try:
            output, _ = process.communicate(timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()  # of no effect on one that the kernel holds
            self._hanging = process
            return storage_probe.result(problem=storage_probe.HANGS)
        return storage_probe.parse(output)
