"""Connections to the Unix sockets of workloads, whose folder is theirs to change at any moment."""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


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


def connected(endpoint: Endpoint, timeout_s: float | None) -> socket.socket:
    """A connected socket; connecting blocks for at most `timeout_s`, which stays set. Raises OSError."""
    if endpoint.socket_path is None:
        return socket.create_connection((endpoint.host or "", endpoint.port or 80), timeout_s)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(timeout_s)
        with pinned(endpoint.socket_path) as path:
            connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection
