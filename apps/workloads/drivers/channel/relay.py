"""Streams between two sockets, many in one thread: for the first process of a workload, and for a shim's channel.

Standard library only. Each connection through a gate of `local.port_relay`, or of a channel to a port, is carried both
ways by a `Stream`.
"""

import os
import selectors
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

BUFFER_BYTES = 64 * 1024
ABORT = struct.pack("ii", 1, 0)  # SO_LINGER that resets the connection

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
