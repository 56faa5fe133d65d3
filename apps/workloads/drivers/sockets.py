"""Connections to the Unix sockets of workloads, whose folder is theirs to change at any moment."""

import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FULL_QUEUE_S = 0.01


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the gateway reaches a port of the workload: a Unix socket path, or host and port."""

    socket_path: str | None = None
    host: str | None = None
    port: int | None = None


@contextmanager
def pinned(path: str) -> Iterator[str]:
    """A name for the socket at `path` that stays its name: no link that the workload puts there is followed.

    Checking the path and then connecting by it would leave room to swap the socket for a link in between. Raises
    OSError for anything but a socket. The name is short, where the path may be longer than a socket's may be.
    """
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            raise ConnectionRefusedError(path)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


@contextmanager
def short_address(path: Path) -> Iterator[str]:
    """An address for a socket at `path`, by its folder's descriptor: a socket's path may not exceed 107 bytes.

    Raises OSError where the folder cannot be opened.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _connect(connection: socket.socket, path: str, timeout_s: float | None) -> None:
    deadline = time.monotonic() + (timeout_s or 0.0)
    while True:
        try:
            connection.connect(path)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(FULL_QUEUE_S)
        else:
            return


def connected(endpoint: Endpoint, timeout_s: float | None) -> socket.socket:
    """A connected socket; connecting blocks for at most `timeout_s`, which stays set. Raises OSError.

    A Unix socket whose queue is full refuses at once who waits with a time limit (EAGAIN, see connect(2)), so it is
    asked again until the time is over.
    """
    if endpoint.socket_path is None:
        return socket.create_connection((endpoint.host or "", endpoint.port or 80), timeout_s)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(timeout_s)
        with pinned(endpoint.socket_path) as path:
            _connect(connection, path, timeout_s)
    except OSError:
        connection.close()
        raise
    return connection
