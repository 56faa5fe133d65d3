"""A port of a workload on another machine as a Unix socket here, for as long as it is used."""

import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from apps.workloads.drivers.base import DriverError
from apps.workloads.drivers.remote.relay import both_ways

IDLE_S = 600.0
Open = Callable[[], socket.socket]


class Forwards:
    """The sockets of this process, one for each port in use, in a private folder with a short name."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._open: set[str] = set()
        self._lock = threading.Lock()

    def path(self, name: str, connect: Open) -> Path:
        """The socket called `name`, on which each connection is carried to one of `connect`'s."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="plstack-"))
            path = self._folder / f"{name}.sock"
            if name not in self._open:
                path.unlink(missing_ok=True)
                server = socket.socket(socket.AF_UNIX)
                server.bind(str(path))
                server.listen(64)
                server.settimeout(IDLE_S)
                self._open.add(name)
                threading.Thread(target=self._serve, args=(name, path, server, connect), daemon=True).start()
            return path

    def _serve(self, name: str, path: Path, server: socket.socket, connect: Open) -> None:
        with suppress(OSError):  # idle for too long
            while True:
                here, _address = server.accept()
                threading.Thread(target=_carry, args=(here, connect), daemon=True).start()
        with self._lock:
            self._open.discard(name)
            path.unlink(missing_ok=True)
            server.close()


def _carry(here: socket.socket, connect: Open) -> None:
    here.settimeout(None)
    try:
        there = connect()
    except DriverError:
        here.close()
        return
    both_ways(here, there)
