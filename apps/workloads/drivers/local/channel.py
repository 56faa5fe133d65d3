"""The channel of a run on this machine: the socket `channel.sock` in its directory, and who asks there.

The directory is the platform's (0700) and no sandbox shows it; the server asks the kernel for the user id at the other
end besides.
"""

import socket
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from threading import Lock

from apps.workloads.drivers.base import Observation
from apps.workloads.drivers.channel.client import ChannelGone, Client
from apps.workloads.drivers.channel.server import Server
from apps.workloads.drivers.errors import Unsupported
from apps.workloads.drivers.local.access import FolderAccess
from apps.workloads.drivers.local.journal import Journal
from apps.workloads.drivers.local.preemption_notice import CheckpointAge, checkpoint_folder
from apps.workloads.drivers.local.records import RunDirectory, RunSpec, decode_spec
from apps.workloads.drivers.notices import Notice
from apps.workloads.drivers.sockets import short_address

BACKLOG = 64
ANSWER_S, REST_S = 2.0, 10.0
MAX_SHIMS = 128


class ShimAccess(FolderAccess):
    """What the shim serves: its journal as it is in memory, and the files that only it writes."""

    def __init__(self, run: RunDirectory, spec: RunSpec, journal: Journal) -> None:
        super().__init__(run, journal.look, lambda: journal.ended is not None)
        self._checkpoints = CheckpointAge(spec)
        self._telling = Lock()

    def observe(self) -> Observation:
        return self._checkpoints.with_checkpoint(self.look())

    def tell(self, notice: Notice | None) -> None:
        with self._telling:  # two threads of one process would write the same temporary file
            super().tell(notice)


def serve(run: RunDirectory, spec: RunSpec, journal: Journal) -> Server:
    """A server at the run's socket; one without it where there is no room for a socket, or for a thread."""
    server = Server(ShimAccess(run, spec, journal))
    with suppress(OSError, RuntimeError):
        listener = bound(run.channel)
        listener.listen(BACKLOG)
        server.listen(listener)
    return server


def bound(path: Path) -> socket.socket:
    """A Unix socket at `path`. Raises OSError."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        with short_address(path) as address:
            listener.bind(address)
    except OSError:
        listener.close()
        raise
    return listener


def dial(path: Path) -> socket.socket:
    """A connection to the Unix socket at `path`. Blocks for at most `ANSWER_S`. Raises OSError."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(ANSWER_S)
    try:
        with short_address(path) as address:
            connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection


class AskingAccess(FolderAccess):
    """For the driver: asks the shim first, and looks itself where none answers: killed, hanging, or too old."""

    def __init__(self, folder: FolderAccess, shim: "Shim") -> None:
        super().__init__(folder.run, folder.look, folder.has_ended)
        self._shim = shim

    def observe(self) -> Observation:
        """Where there are checkpoints to look for: the journal alone is read faster than anybody answers."""
        if not self._shim.has_checkpoints:
            return self.look()
        if not self.has_ended():
            with suppress(ChannelGone, Unsupported):
                return self._shim.client.observe()
        return super().observe()

    def tell(self, notice: Notice | None) -> None:
        with suppress(ChannelGone, Unsupported):
            return self._shim.client.tell(notice)
        super().tell(notice)


class Shim:
    """Of one run: who answers there, and whether its program was given a place for checkpoints."""

    def __init__(self, run: RunDirectory) -> None:
        self.client = Client(lambda: dial(run.channel), answer_s=ANSWER_S, rest_s=REST_S)
        self.has_checkpoints = checkpoint_folder(decode_spec(run.spec.read_bytes())) is not None


class Channels:
    """The shims of the runs that were asked last, each with a connection that is kept for the next question."""

    def __init__(self) -> None:
        self._shims: OrderedDict[Path, Shim] = OrderedDict()
        self._lock = Lock()

    def beside(self, folder: FolderAccess) -> FolderAccess:
        """Through the run's shim where one has ever listened, which an older one has not. Raises OSError."""
        path = folder.run.channel
        if not path.exists():
            return folder
        with self._lock:
            shim = self._shims.pop(path, None) or Shim(folder.run)
            self._shims[path] = shim
            oldest = self._shims.popitem(last=False)[1] if len(self._shims) > MAX_SHIMS else None
        if oldest is not None:
            oldest.client.close()
        return AskingAccess(folder, shim)
