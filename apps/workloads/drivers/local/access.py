"""An attempt through its run directory: for the driver of that machine, and for the shim, which serves it.

The journal in that directory is the truth, needs no answer from anybody and outlives the shim. See `channel` for what
the driver asks the shim all the same.
"""

import os
import socket
from collections.abc import Callable
from pathlib import Path

from apps.workloads.drivers.base import DriverError, LogChunk, Observation, Usage
from apps.workloads.drivers.local import preemption_notice, stopping
from apps.workloads.drivers.local.log_times import read_times
from apps.workloads.drivers.local.metrics import read_metrics
from apps.workloads.drivers.local.records import RunDirectory
from apps.workloads.drivers.notices import Notice
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.sockets import Endpoint, connected

CONNECT_S = 5.0


class FolderAccess:
    """`AttemptAccess` by the files. `look`: the state; `has_ended`: whether nothing more comes. Raises OSError too."""

    def __init__(self, run: RunDirectory, look: Callable[[], Observation], has_ended: Callable[[], bool]) -> None:
        self.run = run
        self.look = look
        self.has_ended = has_ended

    def observe(self) -> Observation:
        return preemption_notice.with_checkpoint(self.run, self.look())

    def logs(self, offset: int = 0, limit: int = 65536) -> LogChunk:
        # Asked before reading: what ended before the read cannot have written after it.
        ended = self.has_ended()
        if not self.run.log.exists():
            return LogChunk(b"", offset, offset, ended, size=0)
        with open(self.run.log, "rb", buffering=0) as file:
            data = os.pread(file.fileno(), limit, offset)
            size = os.fstat(file.fileno()).st_size
        end = offset + len(data)
        times = read_times(self.run.log_times, offset, end) if data else ()
        return LogChunk(data, offset, end, complete=ended and end >= size, times=times, size=size)

    def metrics(self, since_s: float = 0.0) -> list[Usage]:
        return read_metrics(self.run, since_s)

    def port(self, port: int) -> Path:
        """The Unix socket `$PLSTACK_PORTS/<port>.sock`, made by the workload or for it by its first process."""
        path = self.run.ports / f"{port}.sock"
        # A link made by the workload could lead to a socket of the platform's.
        if self.run.exit.exists() or path.is_symlink() or not path.is_socket():
            raise DriverError(Said(Code.NOT_LISTENING, {"port": port}))
        return path

    def listens(self, port: int) -> bool:
        try:
            self.port(port)
        except DriverError:
            return False
        return True

    def connect(self, port: int) -> socket.socket:
        try:
            return connected(Endpoint(socket_path=str(self.port(port))), CONNECT_S)
        except OSError as error:
            raise DriverError(Said(Code.NOT_LISTENING, {"port": port})) from error

    def tell(self, notice: Notice | None) -> None:
        preemption_notice.tell(self.run, notice)

    def stop(self, grace_s: float) -> None:
        if self.run.path.is_dir() and not self.run.exit.exists():
            stopping.ask(self.run.stop, grace_s)
