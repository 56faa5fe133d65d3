"""The caller's end of a process started inside a running workload."""

import fcntl
import json
import os
import socket
import struct
import termios
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import DriverError

CLOSE_TIMEOUT_S = 5.0


class LocalExec:
    """An `ExecStream`. Closing the connection to the first process ends what it runs."""

    def __init__(self, connection: socket.socket, reader: int, writer: int, tty: bool) -> None:
        self._connection = connection
        self._reader = reader
        self._writer = writer
        self._tty = tty

    def fileno(self) -> int:
        return self._reader

    def read(self, limit: int = 65536) -> bytes:
        try:
            return os.read(self._reader, limit)
        except OSError:  # a terminal whose last process ended answers with an error, not with an end of file
            return b""

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._writer, view) :]

    def resize(self, rows: int, columns: int) -> None:
        if self._tty:
            fcntl.ioctl(self._reader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self) -> int | None:
        """Ends input, waits for the process if it has ended, else kills it."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
        try:
            message = _receive(self._connection)
        except OSError:
            message = {}
        self._connection.close()
        for descriptor in {self._reader, self._writer}:
            os.close(descriptor)
        return os.waitstatus_to_exitcode(message["status"]) if "status" in message else None


def start(exec_socket: Path, argv: Sequence[str], tty: bool, uid: int | None) -> LocalExec:
    """Starts `argv` in the workload's environment, as `uid` if it has one of its own. Raises DriverError."""
    connection = _connect(exec_socket)
    if tty:
        master, slave = os.openpty()
        reader, writer, theirs = master, master, [slave]
    else:
        (their_input, writer), (reader, their_output) = os.pipe(), os.pipe()
        theirs = [their_input, their_output, their_output]
    stream = LocalExec(connection, reader, writer, tty)
    try:
        if uid is not None:
            for descriptor in theirs:  # programs open /dev/stderr anew, which takes ownership
                os.fchown(descriptor, uid, uid)
        socket.send_fds(connection, [json.dumps({"argv": list(argv), "tty": tty}).encode()], theirs)
        answer = _receive(connection)
    except OSError as error:
        stream.close()
        raise DriverError("The workload is not running") from error
    finally:
        for descriptor in set(theirs):
            os.close(descriptor)
    if "started" not in answer:
        stream.close()
        raise DriverError(answer.get("failed", "The workload is not running"))
    return stream


def _connect(exec_socket: Path) -> socket.socket:
    """Through the folder's descriptor, because a socket's path may not exceed 107 bytes."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(CLOSE_TIMEOUT_S)
    try:
        folder = os.open(exec_socket.parent, os.O_PATH | os.O_DIRECTORY)
        try:
            connection.connect(f"/proc/self/fd/{folder}/{exec_socket.name}")
        finally:
            os.close(folder)
    except OSError as error:
        connection.close()
        raise DriverError("The workload is not running") from error
    return connection


def _receive(connection: socket.socket) -> dict[str, Any]:
    """One line, byte by byte: the next one may be there already."""
    data = b""
    while not data.endswith(b"\n"):
        more = connection.recv(1)
        if not more:
            return {}
        data += more
    found: dict[str, Any] = json.loads(data)
    return found
