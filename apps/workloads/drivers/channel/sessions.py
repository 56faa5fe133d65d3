"""The far end of a process inside a workload: its output as frames, and incoming frames applied to it.

Standard library only.
"""

import json
import os
import select
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress

from apps.workloads.drivers.channel import exec_frames as frames
from apps.workloads.drivers.channel.exec_frames import Kind
from apps.workloads.drivers.streams import ExecStream

# By descriptor, the kind of its pieces and of its end.
Outputs = Mapping[int, tuple[Kind, Kind]]
EXIT_WAIT_S = 5.0
# Of output that was there at the exit; a pipe holds less. Others may hold it open and go on for ever.
MOST_PIECES = 16


class Session:
    """One process: sends its output as frames and applies incoming frames to it."""

    def __init__(self, stream: socket.socket, process: ExecStream) -> None:
        self._stream = stream
        self._process = process
        self._sending = threading.Lock()
        self._done, self._tell_done = os.pipe()

    def serve(self) -> None:
        """Serve until the process has ended and all its output is sent, or the other end is gone."""
        os.set_blocking(self._process.input_fileno(), False)
        handling = threading.Thread(target=self._handle_frames, daemon=True)
        handling.start()
        try:
            self._send_output()
        finally:
            with suppress(OSError):
                self._stream.shutdown(socket.SHUT_RDWR)
            os.close(self._tell_done)
            handling.join()  # it writes to descriptors that are closed now
            os.close(self._done)
            self._process.close()
            self._stream.close()

    def _send_output(self) -> None:
        outputs = {self._process.fileno(): (Kind.OUTPUT, Kind.OUTPUT_END)}
        error = self._process.error_fileno()
        if error is not None:
            outputs[error] = (Kind.ERROR, Kind.ERROR_END)
        poll = select.poll()  # not `select`: an agent of a busy machine has more than 1024 descriptors
        waiting = {*outputs, self._process.exit_fileno()}
        for descriptor in waiting:
            poll.register(descriptor, select.POLLIN)
        # Frames are not read while the process does not read its input; that the caller is gone is seen all the same.
        poll.register(self._stream.fileno(), select.POLLRDHUP)
        with suppress(OSError):
            while waiting:
                for descriptor, _events in poll.poll():
                    if descriptor == self._stream.fileno():
                        return self._kill()
                    if descriptor not in waiting:  # it ended with the exit, a moment ago
                        continue
                    if descriptor not in outputs:
                        ended = [descriptor, *self._send_exit(outputs, waiting)]
                    else:
                        ended = [] if self._forward(outputs[descriptor]) else [descriptor]
                    for each in ended:
                        poll.unregister(each)
                        waiting.discard(each)

    def _send_exit(self, outputs: Outputs, waiting: set[int]) -> list[int]:
        """Send what was printed, and then the exit; returns the outputs that have ended, too."""
        code, ended = self._process.wait(EXIT_WAIT_S), []
        for descriptor in outputs.keys() & waiting:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            for _piece in range(MOST_PIECES):
                if not poll.poll(0):
                    break
                if not self._forward(outputs[descriptor]):
                    ended.append(descriptor)
                    break
        self._send(Kind.EXIT, json.dumps(code).encode())
        return ended

    def _forward(self, kinds: tuple[Kind, Kind]) -> bool:
        """Send what the output has; returns whether more may come."""
        is_error = kinds[0] is Kind.ERROR
        data = self._process.read_error() if is_error else self._process.read()
        self._send(kinds[0] if data else kinds[1], data)
        return bool(data)

    def _send(self, kind: Kind, content: bytes) -> None:
        with self._sending:
            frames.send(self._stream, kind, content)

    def _handle_frames(self) -> None:
        """Apply incoming frames; end the process when the caller ends the session or is gone."""
        for kind, content in frames.receive(self._stream):
            if kind is Kind.END:
                break
            with suppress(OSError):
                self._apply_frame(kind, content)
        self._kill()

    def _apply_frame(self, kind: Kind, content: bytes) -> None:
        if kind is Kind.INPUT:
            view = memoryview(content)
            while view and self._may_write():
                with suppress(BlockingIOError):
                    view = view[os.write(self._process.input_fileno(), view) :]
        elif kind is Kind.INPUT_END:
            if self._may_write():
                self._process.close_input()
        elif kind is Kind.RESIZE:
            rows, columns = json.loads(content)
            self._process.resize(int(rows), int(columns))
        elif kind is Kind.SIGNAL:
            self._process.signal(int(json.loads(content)))

    def _may_write(self) -> bool:
        """Wait until the process takes input; returns False once the session is done."""
        poll = select.poll()
        poll.register(self._process.input_fileno(), select.POLLOUT)
        poll.register(self._done, select.POLLIN)
        return self._done not in dict(poll.poll())

    def _kill(self) -> None:
        """Send SIGKILL to its group; its exit is then reported like any other."""
        with suppress(OSError):
            self._process.signal(9)
