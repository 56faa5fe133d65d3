"""A process inside a workload of another machine, with descriptors as if it were here."""

import json
import os
import queue
import select
import socket
import threading
from contextlib import ExitStack, suppress

from apps.workloads.drivers.channel import exec_frames as frames
from apps.workloads.drivers.channel.exec_frames import Kind

CLOSE_TIMEOUT_S = 8.0
TELL_TIMEOUT_S = 1.0
# Output that nobody has read yet is kept up to so many pieces; then the process waits.
WAITING_PIECES = 1024
# The exit is told after the output that came before it; so much later where nobody reads that.
SETTLE_S = 5.0


class RemoteExec:
    """An `ExecStream` over frames. Threads of its own carry bytes between the connection and three pipes.

    Each descriptor is closed once, by the one thread that uses it: its number may be another's the moment after.
    """

    def __init__(self, stream: socket.socket, tty: bool) -> None:
        self._stream = stream
        self._ended = threading.Event()
        self._code: int | None = None
        self._has_input = True
        self._output = _Outlet()
        self._error = None if tty else _Outlet()
        their_input, self._input = os.pipe()
        self._exit, self._told = os.pipe()
        self._callers = ExitStack()
        for outlet in filter(None, (self._output, self._error)):
            self._callers.callback(os.close, outlet.reader)
        self._callers.callback(os.close, self._exit)
        self._sender = _Sender(stream, their_input)
        threading.Thread(target=self._receive, daemon=True).start()

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
        self._sender.tell(Kind.RESIZE, [rows, columns])

    def signal(self, number: int) -> None:
        self._sender.tell(Kind.SIGNAL, number)

    def wait(self, timeout_s: float | None = None) -> int | None:
        self._ended.wait(timeout_s)
        return self._code

    def close(self) -> int | None:
        self._sender.tell(Kind.END, None)
        code = self.wait(CLOSE_TIMEOUT_S if self._sender.has_told(TELL_TIMEOUT_S) else 0)
        with suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        self.close_input()
        self._callers.close()
        return code

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
        with suppress(OSError):  # whoever sends right now stops
            self._stream.shutdown(socket.SHUT_RDWR)
        self._sender.end()
        self._stream.close()

    def _end(self, code: int | None) -> None:
        if self._ended.is_set():
            return
        self._code = code
        self._ended.set()
        for outlet in filter(None, (self._output, self._error)):
            outlet.settle(SETTLE_S)
        os.close(self._told)


class _Sender:
    """The one thread that writes to the connection: the caller's input, and before it what the caller tells.

    Telling never waits: whoever tells may be an event loop, and the other end reads no more than its process does.
    """

    def __init__(self, stream: socket.socket, source: int) -> None:
        self._stream = stream
        self._source = source
        self._wake = os.eventfd(0, os.EFD_CLOEXEC)
        self._waking = threading.Lock()  # nobody wakes it by a number that it has closed
        self._is_ending = self._has_ended = False
        self._to_tell: queue.Queue[tuple[Kind, bytes]] = queue.Queue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def tell(self, kind: Kind, content: object) -> None:
        """No effect once the process has ended or the line is cut."""
        self._to_tell.put((kind, json.dumps(content).encode()))
        self._awake()

    def has_told(self, timeout_s: float) -> bool:
        """Whether all that was told is sent, within the timeout."""
        with self._to_tell.all_tasks_done:
            return self._to_tell.all_tasks_done.wait_for(
                lambda: self._has_ended or not self._to_tell.unfinished_tasks, timeout_s
            )

    def end(self) -> None:
        """Returns when it sends no more. A send that is under way ends only with the connection."""
        self._is_ending = True
        self._awake()
        self._thread.join()

    def _awake(self) -> None:
        with self._waking:
            if not self._has_ended:
                os.eventfd_write(self._wake, 1)

    def _run(self) -> None:
        with suppress(OSError):
            self._send_until_end()
        os.close(self._source)  # a writer of input gets a broken pipe
        with self._waking:
            self._has_ended = True
            os.close(self._wake)
        with self._to_tell.all_tasks_done:
            self._to_tell.all_tasks_done.notify_all()

    def _send_until_end(self) -> None:
        waiting = select.poll()
        for descriptor in (self._source, self._wake):
            waiting.register(descriptor, select.POLLIN)
        while True:
            ready = dict(waiting.poll())
            if self._wake in ready:
                os.eventfd_read(self._wake)
                self._send_told()
                if self._is_ending:
                    return
            elif self._source in ready:
                data = os.read(self._source, 65536)
                frames.send(self._stream, Kind.INPUT if data else Kind.INPUT_END, data)
                if not data:
                    waiting.unregister(self._source)

    def _send_told(self) -> None:
        while not self._to_tell.empty():  # nobody else takes from it
            frames.send(self._stream, *self._to_tell.get())
            self._to_tell.task_done()


class _Outlet:
    """A pipe that is filled by a thread of its own, so that one output that nobody reads does not hold up another."""

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        self._waiting: queue.Queue[bytes] = queue.Queue(WAITING_PIECES)
        threading.Thread(target=self._fill, daemon=True).start()

    def put(self, data: bytes) -> None:
        """b"" ends it."""
        self._waiting.put(data)

    def settle(self, timeout_s: float) -> None:
        """Wait until all that was put can be read."""
        with self._waiting.all_tasks_done:
            self._waiting.all_tasks_done.wait_for(lambda: not self._waiting.unfinished_tasks, timeout_s)

    def _fill(self) -> None:
        is_read = True
        while data := self._waiting.get():
            view = memoryview(data)
            while view and is_read:
                try:
                    view = view[os.write(self._writer, view) :]
                except OSError:  # nobody reads: what comes is dropped, so that the process does not wait for ever
                    is_read = False
            self._waiting.task_done()
        os.close(self._writer)
