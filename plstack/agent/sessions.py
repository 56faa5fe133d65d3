"""Streams into workloads: a process with its input and output, a port's connection."""

import json
import select
import socket
import threading
from contextlib import suppress
from typing import Any

from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.remote import frames
from apps.workloads.drivers.remote.frames import Kind
from apps.workloads.drivers.remote.relay import both_ways
from apps.workloads.drivers.sockets import connected
from apps.workloads.drivers.streams import ExecStream

CONNECT_S = 5.0
EXIT_WAIT_S = 5.0


def connect(driver: LocalDriver, handle: Any, port: int) -> socket.socket:
    """A connection to what listens on the port. Raises DriverError, OSError."""
    here = connected(driver.endpoint(handle, port), CONNECT_S)
    here.settimeout(None)
    return here


def carry(there: socket.socket, here: socket.socket) -> None:
    both_ways(there, here)


class Session:
    """One process: what it writes goes out as frames, what comes in as frames is done to it."""

    def __init__(self, stream: socket.socket, process: ExecStream) -> None:
        self._stream = stream
        self._process = process
        self._sending = threading.Lock()

    def serve(self) -> None:
        """Until the process has ended and all of its output is sent, or the other end is gone."""
        threading.Thread(target=self._obey, daemon=True).start()
        try:
            self._report()
        finally:
            with suppress(OSError):
                self._stream.shutdown(socket.SHUT_RDWR)
            self._process.close()
            self._stream.close()

    def _report(self) -> None:
        outputs = {self._process.fileno(): (Kind.OUTPUT, Kind.OUTPUT_END)}
        error = self._process.error_fileno()
        if error is not None:
            outputs[error] = (Kind.ERROR, Kind.ERROR_END)
        poll = select.poll()  # not `select`: an agent of a busy machine has more than 1024 descriptors
        waiting = {*outputs, self._process.exit_fileno()}
        for descriptor in waiting:
            poll.register(descriptor, select.POLLIN)
        with suppress(OSError):
            while waiting:
                for descriptor, _events in poll.poll():
                    if not self._pass_on(descriptor, outputs.get(descriptor)):
                        poll.unregister(descriptor)
                        waiting.discard(descriptor)

    def _pass_on(self, descriptor: int, kinds: tuple[Kind, Kind] | None) -> bool:
        """Whether more may come from the descriptor."""
        if kinds is None:
            code = self._process.wait(EXIT_WAIT_S)
            self._send(Kind.EXIT, json.dumps(code).encode())
            return False
        is_error = kinds[0] is Kind.ERROR
        data = self._process.read_error() if is_error else self._process.read()
        self._send(kinds[0] if data else kinds[1], data)
        return bool(data)

    def _send(self, kind: Kind, content: bytes) -> None:
        with self._sending:
            frames.send(self._stream, kind, content)

    def _obey(self) -> None:
        """A caller that is gone, or wants no more, ends the process."""
        for kind, content in frames.receive(self._stream):
            if kind is Kind.END:
                break
            with suppress(OSError):
                self._do(kind, content)
        self._end()

    def _do(self, kind: Kind, content: bytes) -> None:
        if kind is Kind.INPUT:
            self._process.write(content)
        elif kind is Kind.INPUT_END:
            self._process.close_input()
        elif kind is Kind.RESIZE:
            rows, columns = json.loads(content)
            self._process.resize(int(rows), int(columns))
        elif kind is Kind.SIGNAL:
            self._process.signal(int(json.loads(content)))

    def _end(self) -> None:
        """SIGKILL to its group: its end then comes out like any other."""
        with suppress(OSError):
            self._process.signal(9)
