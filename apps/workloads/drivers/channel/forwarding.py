"""A port of a workload on another machine as a Unix socket here, for as long as it is used."""

import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from apps.workloads.drivers.base import DriverError
from apps.workloads.drivers.channel.both_ways import both_ways
from apps.workloads.drivers.errors import CannotSee

IDLE_S = 600.0
ACCEPT_AGAIN_S = 0.2
# In a crowd the other end takes its places from whoever has not asked yet.
TRIES, TRY_AGAIN_S = 5, 0.2
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
        while True:
            try:
                here, _address = server.accept()
            except TimeoutError:
                break
            except OSError:  # no descriptor is left for now
                time.sleep(ACCEPT_AGAIN_S)
            else:
                threading.Thread(target=_carry, args=(here, connect), daemon=True).start()
        with self._lock:
            self._open.discard(name)
            path.unlink(missing_ok=True)
        _carry_late(server, connect)


def _carry_late(server: socket.socket, connect: Open) -> None:
    """Those who came between the end of the wait and the end of the socket; closes it."""
    with server:
        server.setblocking(False)
        try:
            while True:
                here, _address = server.accept()
                threading.Thread(target=_carry, args=(here, connect), daemon=True).start()
        except OSError:  # nobody
            pass


def _carry(here: socket.socket, connect: Open) -> None:
    here.settimeout(None)
    try:
        there = _connected(connect)
    except DriverError:
        here.close()
        return
    both_ways(here, there)


def _connected(connect: Open) -> socket.socket:
    """Whoever was not answered asks again; raises what the other end says."""
    for _again in range(TRIES - 1):
        try:
            return connect()
        except CannotSee:
            time.sleep(TRY_AGAIN_S)
    return connect()
