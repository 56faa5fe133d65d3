"""Bytes in both directions between two sockets, each direction ended by itself."""

import socket
import threading
from contextlib import suppress


def both_ways(one: socket.socket, other: socket.socket) -> None:
    """Returns when both directions have ended; closes both."""
    there = threading.Thread(target=_pump, args=(one, other), daemon=True)
    there.start()
    _pump(other, one)
    there.join()
    for each in (one, other):
        with suppress(OSError):
            each.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
