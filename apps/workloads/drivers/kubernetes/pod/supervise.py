"""The running phase where the program is in another container than the shim. Standard library only."""

import signal
import socket
from typing import Any

from apps.workloads.drivers.kubernetes.pod.entry import Entry
from apps.workloads.drivers.local.disk_watch import DiskWatch, largest_file
from apps.workloads.drivers.local.mounting import Launch
from apps.workloads.drivers.local.supervise import Supervisor

MEMBER = -1
"""Stands for a process that is there and cannot be named from here."""


class PodDiskWatch(DiskWatch):
    """What the program holds is seen from inside its container alone."""

    entry: Entry

    def deleted_bytes(self) -> int:
        return self.entry.deleted_bytes()


class PodSupervisor(Supervisor):
    """Speaks with the container's first process, and asks it for what the kernel lets nobody else do."""

    entry: Entry

    def _disk_watch(self) -> DiskWatch:
        return PodDiskWatch(self.spec, self.journal.run, self._members)

    def meet(self, entry: Entry) -> None:
        """Before it runs."""
        self.entry = entry
        if isinstance(self.disk, PodDiskWatch):
            self.disk.entry = entry

    def _spawn(self, launch: Launch, channel: socket.socket, listener: socket.socket, output: int) -> Any:
        limits = {"RLIMIT_CORE": 0}
        if (largest := largest_file(self.spec)) is not None:
            limits["RLIMIT_FSIZE"] = largest
        self.entry.start(channel, listener, output, limits)
        return self.entry

    def _terminate(self) -> None:
        self.entry.signal(signal.SIGTERM)

    def _members(self) -> list[int]:
        """Whether there are any; for everything else the descriptors of the container's group are enough."""
        return [MEMBER] if self.entry.count() else []

    def _end_all(self, process: Any) -> None:
        """The end of the channel, which has been closed, is the end of the first process and all beside it."""
        self.entry.wait()
