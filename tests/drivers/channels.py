"""Channels without a workload: what a server serves, and how it is reached."""

import os
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from apps.workloads.drivers.base import DriverError, LogChunk, Observation, Phase, Usage
from apps.workloads.drivers.capabilities import Notice
from apps.workloads.drivers.channel import greeting
from apps.workloads.drivers.channel.access import AttemptAccess
from apps.workloads.drivers.channel.client import Client
from apps.workloads.drivers.channel.server import Server
from apps.workloads.drivers.said import Code, Said
from tests.drivers.kit import MIB

KEY = b"known to both"
KINDS = ["socketpair", "unix", "tcp"]


class FakeShim:
    """An `AttemptAccess` without a workload; port 80 echoes."""

    def __init__(self) -> None:
        self.log = os.urandom(3 * MIB)
        self.told: list[Notice | None] = []
        self.graces: list[float] = []
        self.hangs = threading.Event()
        self.hangs.set()

    def observe(self) -> Observation:
        self.hangs.wait(60)
        return Observation(Phase.RUNNING, ran_for_s=1.5, checkpoint_age_s=2.5)

    def logs(self, offset: int = 0, limit: int = 65536) -> LogChunk:
        data = self.log[offset : offset + limit]
        return LogChunk(data, offset, offset + len(data), offset + len(data) == len(self.log))

    def metrics(self, since_s: float = 0.0) -> list[Usage]:
        return [Usage(float(n), n, n) for n in range(1, 10_001) if n > since_s]

    def listens(self, port: int) -> bool:
        return port == 80

    def connect(self, port: int) -> socket.socket:
        if port != 80:
            raise DriverError(Said(Code.NOT_LISTENING, {"port": port}))
        ours, theirs = socket.socketpair()
        threading.Thread(target=echo, args=(theirs,), daemon=True).start()
        return ours

    def tell(self, notice: Notice | None) -> None:
        self.told.append(notice)

    def stop(self, grace_s: float) -> None:
        if grace_s < 0:
            raise ZeroDivisionError("a bug")
        self.graces.append(grace_s)


def echo(stream: socket.socket) -> None:
    with stream:
        while data := stream.recv(65536):
            stream.sendall(data)


class Line:
    """A server, and how to reach it."""

    def __init__(self, server: Server, dial: Callable[[], socket.socket], key: bytes | None) -> None:
        self.server, self.dial, self.key = server, dial, key

    def client(self, answer_s: float = 60.0, rest_s: float = 0.0) -> Client:
        return Client(self.dial, self.key, answer_s, rest_s)

    def greeted(self) -> socket.socket:
        stream = self.dial()
        greeting.introduce(stream, self.key, 60)
        return stream


@contextmanager
def lines(kind: str, shim: AttemptAccess) -> Iterator[Line]:
    """A server that is reached by this kind of stream."""
    key = KEY if kind == "tcp" else None
    server = Server(shim, key)
    with ExitStack() as stack:
        if kind == "socketpair":

            def dial() -> socket.socket:
                ours, theirs = socket.socketpair()
                server.serve(theirs)
                return ours
        elif kind == "unix":
            path = stack.enter_context(tempfile.TemporaryDirectory()) + "/sock"
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            listener.listen(128)
            server.listen(listener)

            def dial() -> socket.socket:
                stream = socket.socket(socket.AF_UNIX)
                stream.connect(path)
                return stream
        else:
            tcp = socket.create_server(("127.0.0.1", 0), backlog=128)
            server.listen(tcp)

            def dial() -> socket.socket:
                return socket.create_connection(tcp.getsockname(), 60)

        yield Line(server, dial, key)
        server.close()


def read_all(stream: socket.socket) -> bytes:
    data = b""
    while more := stream.recv(MIB):
        data += more
    return data
