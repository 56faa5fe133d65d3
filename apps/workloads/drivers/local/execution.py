"""The caller's end of a process started inside a running workload."""

import fcntl
import json
import os
import select
import socket
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import DriverError
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.sockets import short_address

CLOSE_TIMEOUT_S = 5.0
END_OF_FILE = b"\x04"


class LocalExec:
    """An `ExecStream`. Closing the connection to the first process ends what it runs."""

    def __init__(self, connection: socket.socket, ends: "Ends") -> None:
        self._connection = connection
        self._ends = ends
        self._has_input = True
        self._answer = b""
        self._code: int | None = None
        self._is_closed = False

    def fileno(self) -> int:
        return self._ends.output

    def error_fileno(self) -> int | None:
        return self._ends.error

    def input_fileno(self) -> int:
        return self._ends.input

    def exit_fileno(self) -> int:
        return self._connection.fileno()

    def read(self, limit: int = 65536) -> bytes:
        return _read(self._ends.output, limit)

    def read_error(self, limit: int = 65536) -> bytes:
        return b"" if self._ends.error is None else _read(self._ends.error, limit)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._ends.input, view) :]

    def close_input(self) -> None:
        if not self._has_input:
            return
        self._has_input = False
        if self._ends.is_terminal:
            self.write(END_OF_FILE)
        else:
            os.close(self._ends.input)

    def resize(self, rows: int, columns: int) -> None:
        if self._ends.is_terminal:
            fcntl.ioctl(self._ends.output, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number: int) -> None:
        with suppress(OSError):  # it has ended
            self._connection.sendall(json.dumps({"signal": number}).encode() + b"\n")

    def wait(self, timeout_s: float | None = None) -> int | None:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while self._code is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._connection], [], [], left)[0]:
                return None
            try:
                data = self._connection.recv(4096)
            except OSError:
                data = b""
            if not data:  # the workload ended, and nobody is left to say how
                return None
            self._answer += data
            if self._answer.endswith(b"\n"):
                self._code = os.waitstatus_to_exitcode(json.loads(self._answer)["status"])
        return self._code

    def close(self) -> int | None:
        if self._is_closed:  # the numbers of the descriptors may be another's by now
            return self._code
        self._is_closed = True
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
        code = self.wait(CLOSE_TIMEOUT_S)
        self._connection.close()
        self._ends.close(self._has_input)
        return code


@dataclass(frozen=True, slots=True)
class Ends:
    """The caller's descriptors: a terminal's one for all, or three pipes'."""

    input: int
    output: int
    error: int | None

    @property
    def is_terminal(self) -> bool:
        return self.input == self.output

    def close(self, with_input: bool) -> None:
        wanted = {self.output, *([self.input] if with_input else ()), *([] if self.error is None else [self.error])}
        for descriptor in wanted:
            os.close(descriptor)


def start(
    exec_socket: Path, argv: Sequence[str], tty: bool, uid: int | None, env: Mapping[str, str] | None = None
) -> LocalExec:
    """Starts `argv` in the workload's environment, as `uid` if it has one of its own. Raises DriverError."""
    connection = _connect(exec_socket)
    ends, theirs = _open_terminal() if tty else _open_pipes()
    stream = LocalExec(connection, ends)
    try:
        if uid is not None:
            for descriptor in theirs:  # programs open /dev/stderr anew, which takes ownership
                os.fchown(descriptor, uid, uid)
        command = {"argv": list(argv), "tty": tty, "env": dict(env or {})}
        socket.send_fds(connection, [json.dumps(command).encode()], theirs)
        answer = _receive(connection)
    except OSError as error:
        stream.close()
        raise DriverError(Said(Code.NOT_RUNNING)) from error
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    if "started" not in answer:
        stream.close()
        raise DriverError(Said.from_json(answer["failed"]) if "failed" in answer else Said(Code.NOT_RUNNING))
    return stream


def _open_terminal() -> tuple[Ends, list[int]]:
    master, slave = os.openpty()
    return Ends(master, master, None), [slave]


def _open_pipes() -> tuple[Ends, list[int]]:
    (their_input, writer), (output, their_output), (error, their_error) = os.pipe(), os.pipe(), os.pipe()
    return Ends(writer, output, error), [their_input, their_output, their_error]


def _read(descriptor: int, limit: int) -> bytes:
    try:
        return os.read(descriptor, limit)
    except BlockingIOError:  # made non-blocking by the caller, who wants to know
        raise
    except OSError:  # a terminal whose last process ended answers with an error, not with an end of file
        return b""


def _connect(exec_socket: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(CLOSE_TIMEOUT_S)
    try:
        with short_address(exec_socket) as address:
            connection.connect(address)
    except OSError as error:
        connection.close()
        raise DriverError(Said(Code.NOT_RUNNING)) from error
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
