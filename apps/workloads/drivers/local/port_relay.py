"""The gates between a workload's loopback ports and Unix sockets, without a thread: part of the first process.

Standard library only, as `init`. A `Door` makes a declared port reachable at `<folder>/<port>.sock` for as long as some
program listens on that port of the loopback; a `WayOut` listens on a loopback port for as long as the platform's proxy
can be reached through its Unix socket. A `Watch` opens and shuts them.
"""

import os
import selectors
import socket
import time
from contextlib import suppress
from pathlib import Path

from apps.workloads.drivers.channel.relay import ABORT, Selector, Stream

MAX_CONNECTIONS = 256
MAX_OUTGOING = 128
LISTENING = "0A"  # TCP_LISTEN of include/net/tcp_states.h, as /proc/net/tcp writes it
# Reading the kernel's tables costs a millisecond or two.
LOOK_S, CALM_LOOK_S, RESTLESS_S = 0.25, 1.0, 60.0


class Gate:
    """A listening socket whose connections are carried on to `dial`'s; at most `limit` at a time, the others wait."""

    def __init__(self, selector: Selector, limit: int) -> None:
        self.selector = selector
        self.limit = limit
        self.count = 0
        self.listener: socket.socket | None = None
        self.is_watched = False

    def dial(self) -> socket.socket:
        """A socket that is connecting, non-blocking. Raises OSError."""
        raise NotImplementedError

    def look(self, listeners: dict[int, str]) -> None:
        """Opens or shuts the gate according to what is behind it. `listeners`: addresses by port, see `listening`."""
        raise NotImplementedError

    def open(self, listener: socket.socket) -> None:
        listener.setblocking(False)
        self.listener = listener
        self._watch()

    def shut(self) -> None:
        """Takes no further connections; those that there are go on."""
        listener, self.listener = self.listener, None
        if listener is not None:
            if self.is_watched:
                self.selector.unregister(listener)
            self.is_watched = False
            listener.close()

    def _watch(self) -> None:
        wanted = self.count < self.limit
        if self.listener is None or wanted == self.is_watched:
            return
        if wanted:
            self.selector.register(self.listener, selectors.EVENT_READ, self._accept)
        else:
            self.selector.unregister(self.listener)
        self.is_watched = wanted

    def _accept(self, _events: int) -> None:
        if self.listener is None:
            return
        try:
            near, _ = self.listener.accept()
        except OSError:  # it went away before it was its turn
            return
        near.setblocking(False)
        try:
            far = self.dial()
        except OSError:
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            near.close()
            self.shut()
            return
        self.count += 1
        Stream(self.selector, near, far, self._closed)
        self._watch()

    def _closed(self) -> None:
        self.count -= 1
        self._watch()


class Door(Gate):
    """`<folder>/<port>.sock`, there while a program listens on the port and has not made that socket itself."""

    def __init__(self, selector: Selector, folder: str, port: int) -> None:
        super().__init__(selector, MAX_CONNECTIONS)
        self.folder = folder
        self.port = port
        self.address = ""
        self.made: int | None = None

    def look(self, listeners: dict[int, str]) -> None:
        self.address = listeners.get(self.port, "")
        if self.address and self.listener is None:
            self._make()
        elif not self.address and self.listener is not None:
            self.shut()

    def shut(self) -> None:
        super().shut()
        self._remove()

    def dial(self) -> socket.socket:
        return _dial(socket.AF_INET6 if ":" in self.address else socket.AF_INET, (self.address, self.port))

    def _make(self) -> None:
        """Through the folder's descriptor, because a socket's path may not exceed 107 bytes."""
        listener = socket.socket(socket.AF_UNIX)
        name = f"{self.port}.sock"
        try:
            folder = os.open(self.folder, os.O_PATH | os.O_DIRECTORY)
            try:
                listener.bind(f"/proc/self/fd/{folder}/{name}")
                self.made = os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino
            finally:
                os.close(folder)
            listener.listen(MAX_CONNECTIONS)
        except OSError:  # the program serves there itself, or the folder is full
            listener.close()
        else:
            self.open(listener)

    def _remove(self) -> None:
        path = Path(self.folder, f"{self.port}.sock")
        with suppress(OSError):
            if path.lstat().st_ino == self.made:  # else the program's own, made meanwhile
                path.unlink()


class WayOut(Gate):
    """A loopback port behind which the platform's proxy stands; closed, so "connection refused", while it does not."""

    def __init__(self, selector: Selector, port: int, target: str) -> None:
        super().__init__(selector, MAX_OUTGOING)
        self.port = port
        self.target = target

    def look(self, listeners: dict[int, str]) -> None:
        if self.listener is not None:
            return
        with suppress(OSError):
            self.dial().close()
            # Members of a gang share a loopback, and each opens the way out for as long as it lives.
            listener = socket.create_server(("127.0.0.1", self.port), backlog=MAX_OUTGOING, reuse_port=True)
            self.open(listener)

    def dial(self) -> socket.socket:
        return _dial(socket.AF_UNIX, self.target)


def _dial(family: int, address: "str | tuple[str, int]") -> socket.socket:
    far = socket.socket(family)
    far.setblocking(False)
    try:
        with suppress(BlockingIOError):
            far.connect(address)
    except OSError:
        far.close()
        raise
    return far


def listening() -> dict[int, str]:
    """The loopback address by port at which programs listen; IPv4 where they do at both. See proc_net_tcp(5)."""
    found: dict[int, str] = {}
    for table, address in (("tcp", "127.0.0.1"), ("tcp6", "::1")):
        with suppress(OSError), open(f"/proc/self/net/{table}") as file:
            next(file, None)
            for line in file:
                fields = line.split()
                if fields[3] == LISTENING:
                    found.setdefault(int(fields[1].rpartition(":")[2], 16), address)
    return found


class Watch:
    """Looks behind the gates: often while things change, seldom once they have been as they are for a minute."""

    def __init__(self, gates: list[Gate]) -> None:
        self.gates = gates
        self.due = 0.0
        self.changed_at = time.monotonic()

    def turn(self) -> "float | None":
        """Looks where it is time to; the seconds until the next time, None without gates."""
        if not self.gates:
            return None
        now = time.monotonic()
        if now >= self.due:
            self._look(now)
        return self.due - now

    def _look(self, now: float) -> None:
        before = self._open()
        listeners = listening()
        for gate in self.gates:
            gate.look(listeners)
        if self._open() != before:
            self.changed_at = now
        self.due = now + (LOOK_S if now - self.changed_at < RESTLESS_S else CALM_LOOK_S)

    def _open(self) -> list[bool]:
        return [gate.listener is not None for gate in self.gates]
