"""Streams between a workload's loopback ports and Unix sockets, without a thread: part of the first process.

Standard library only, as `init`. A `Door` makes a declared port reachable at `<folder>/<port>.sock` for as long as some
program listens on that port of the loopback; a `WayOut` listens on a loopback port for as long as the platform's proxy
can be reached through its Unix socket. Each connection is carried both ways by a `Stream`.
"""

import os
import selectors
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

BUFFER_BYTES = 64 * 1024
MAX_CONNECTIONS = 256
MAX_OUTGOING = 128
LISTENING = "0A"  # TCP_LISTEN of include/net/tcp_states.h, as /proc/net/tcp writes it
ABORT = struct.pack("ii", 1, 0)

Selector = selectors.BaseSelector
Handler = Callable[[int], None]


class Direction:
    """Bytes on their way from one socket to the other. Reading pauses while `pending` is full: slow peers wait."""

    def __init__(self, source: socket.socket, sink: socket.socket) -> None:
        self.source = source
        self.sink = sink
        self.pending = b""
        self.ended = False
        self.done = False

    def read(self) -> None:
        if self.ended or len(self.pending) >= BUFFER_BYTES:
            return
        with suppress(BlockingIOError):
            data = self.source.recv(BUFFER_BYTES)
            self.ended = not data
            self.pending += data

    def flush(self) -> None:
        """Writes what can be written; passes the end on once nothing is pending."""
        while self.pending:
            try:
                sent = self.sink.send(self.pending)
            except BlockingIOError:
                return
            self.pending = self.pending[sent:]
        if self.ended and not self.done:
            self.done = True
            self.sink.shutdown(socket.SHUT_WR)


class Stream:
    """Two connected sockets and the bytes between them, until both sides have ended or one breaks."""

    def __init__(self, selector: Selector, near: socket.socket, far: socket.socket, closed: Callable[[], None]) -> None:
        self.selector = selector
        self.directions = (Direction(near, far), Direction(far, near))
        self.closed = closed
        self.is_open = True
        self.interest: dict[socket.socket, int] = {}
        self.connecting: socket.socket | None = far
        self._watch()

    def _handle(self, _events: int) -> None:
        if not self.is_open:  # closed by an earlier event of the same turn
            return
        try:
            self._move()
        except OSError:
            self._break()
        else:
            self._watch()

    def _move(self) -> None:
        if self.connecting is not None:
            error = self.connecting.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if error:
                raise OSError(error, os.strerror(error))
            self.connecting = None
        for direction in self.directions:
            direction.read()
            direction.flush()
        if all(direction.done for direction in self.directions):
            self.close()

    def _watch(self) -> None:
        """Waits for exactly what can make progress; a socket that can make none is not watched at all."""
        if not self.is_open:
            return
        outward, inward = self.directions
        for sending, receiving in ((outward, inward), (inward, outward)):
            self._register(sending.source, self._wanted(sending, receiving))

    def _wanted(self, sending: Direction, receiving: Direction) -> int:
        if self.connecting is not None:
            return selectors.EVENT_WRITE if sending.source is self.connecting else 0
        reading = not sending.ended and len(sending.pending) < BUFFER_BYTES
        return reading * selectors.EVENT_READ | bool(receiving.pending) * selectors.EVENT_WRITE

    def _register(self, end: socket.socket, wanted: int) -> None:
        before = self.interest.get(end, 0)
        if wanted == before:
            return
        if not before:
            self.selector.register(end, wanted, self._handle)
        elif wanted:
            self.selector.modify(end, wanted, self._handle)
        else:
            self.selector.unregister(end)
        self.interest[end] = wanted

    def _break(self) -> None:
        """What broke on one side must not look like an orderly end on the other."""
        for direction in self.directions:
            with suppress(OSError):
                direction.source.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        self.close()

    def close(self) -> None:
        self.is_open = False
        for direction in self.directions:
            self._register(direction.source, 0)
            direction.source.close()
        self.closed()


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

    def look(self) -> None:
        """Called every moment: opens or shuts the gate according to what is behind it."""
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

    def look(self) -> None:
        self.address = listening(self.port)
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

    def look(self) -> None:
        if self.listener is not None:
            return
        with suppress(OSError):
            self.dial().close()
            listener = socket.create_server(("127.0.0.1", self.port), backlog=MAX_OUTGOING)
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


def listening(port: int) -> str:
    """The loopback address at which some program listens on the port; "" for none. See proc_net_tcp(5)."""
    for table, address in (("tcp", "127.0.0.1"), ("tcp6", "::1")):
        with suppress(OSError), open(f"/proc/self/net/{table}") as file:
            next(file, None)
            for line in file:
                fields = line.split()
                if fields[3] == LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    return address
    return ""
