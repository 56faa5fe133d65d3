"""A process inside a workload of another machine, with descriptors as if it were here."""

import json
import os
import queue
import socket
import threading
from contextlib import suppress

from apps.workloads.drivers.remote import frames
from apps.workloads.drivers.remote.frames import Kind

CLOSE_TIMEOUT_S = 8.0
# Output that nobody has read yet is kept up to so many pieces; then the process waits.
WAITING_PIECES = 1024


class RemoteExec:
    """An `ExecStream` over frames. Threads of its own carry bytes between the connection and three pipes."""

    def __init__(self, stream: socket.socket, tty: bool) -> None:
        self._stream = stream
        self._sending = threading.Lock()
        self._ended = threading.Event()
        self._code: int | None = None
        self._has_input = True
        self._output = _Outlet()
        self._error = None if tty else _Outlet()
        self._their_input, self._input = os.pipe()
        self._exit, self._told = os.pipe()
        for work in (self._receive, self._send_input):
            threading.Thread(target=work, daemon=True).start()

    def fileno(self) -> int:
        return self._output.reader

    def error_fileno(self) -> int | None:
        return None if self._error is None else self._error.reader

    def input_fileno(self) -> int:
        return self._input

    def exit_fileno(self) -> int:
        return self._exit

    def read(self, limit: int = 65536) -> bytes:
        return os.read(self._output.reader, limit)

    def read_error(self, limit: int = 65536) -> bytes:
        return b"" if self._error is None else os.read(self._error.reader, limit)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._input, view) :]

    def close_input(self) -> None:
        if self._has_input:
            self._has_input = False
            os.close(self._input)

    def resize(self, rows: int, columns: int) -> None:
        self._tell(Kind.RESIZE, [rows, columns])

    def signal(self, number: int) -> None:
        self._tell(Kind.SIGNAL, number)

    def wait(self, timeout_s: float | None = None) -> int | None:
        self._ended.wait(timeout_s)
        return self._code

    def close(self) -> int | None:
        self._tell(Kind.END, None)
        code = self.wait(CLOSE_TIMEOUT_S)
        with suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        self.close_input()
        self._output.drop()
        if self._error is not None:
            self._error.drop()
        with suppress(OSError):
            os.close(self._exit)
        return code

    def _tell(self, kind: Kind, content: object) -> None:
        with suppress(OSError), self._sending:  # it has ended, or the line is cut
            frames.send(self._stream, kind, json.dumps(content).encode())

    def _send_input(self) -> None:
        """From the pipe to the connection; a process that has ended breaks the pipe."""
        with suppress(OSError):
            while data := os.read(self._their_input, 65536):
                with self._sending:
                    frames.send(self._stream, Kind.INPUT, data)
            with self._sending:
                frames.send(self._stream, Kind.INPUT_END)
        if self._ended.is_set():
            with suppress(OSError):
                os.close(self._their_input)

    def _receive(self) -> None:
        outlets = {Kind.OUTPUT: self._output, Kind.ERROR: self._error}
        ends = {Kind.OUTPUT_END: self._output, Kind.ERROR_END: self._error}
        for kind, content in frames.receive(self._stream):
            if kind is Kind.EXIT:
                self._end(json.loads(content))
            elif outlet := outlets.get(kind):
                outlet.put(content)
            elif outlet := ends.get(kind):
                outlet.put(b"")
        self._end(self._code)
        self._output.put(b"")
        if self._error is not None:
            self._error.put(b"")
        with suppress(OSError):
            self._stream.close()

    def _end(self, code: int | None) -> None:
        if self._ended.is_set():
            return
        self._code = code
        self._ended.set()
        os.close(self._told)
        with suppress(OSError):  # nobody reads what is written from now on
            os.close(self._their_input)


class _Outlet:
    """A pipe that is filled by a thread of its own, so that one output that nobody reads does not hold up another."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        self._waiting: queue.Queue[bytes] = queue.Queue(WAITING_PIECES)
        threading.Thread(target=self._fill, daemon=True).start()

    def put(self, data: bytes) -> None:
        """b"" ends it."""
        self._waiting.put(data)

    def drop(self) -> None:
        with suppress(OSError):
            os.close(self.reader)

    def _fill(self) -> None:
        is_read = True
        while data := self._waiting.get():
            view = memoryview(data)
            while view and is_read:
                try:
                    view = view[os.write(self._writer, view) :]
                except OSError:  # nobody reads: what comes is dropped, so that the process does not wait for ever
                    is_read = False
        with suppress(OSError):
            os.close(self._writer)
