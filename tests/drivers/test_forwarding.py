"""Connections to ports on other machines, where the other end or this one is short of something for a moment."""

import errno
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apps.workloads.drivers.base import DriverError
from apps.workloads.drivers.channel import forwarding
from apps.workloads.drivers.channel.forwarding import Forwards
from apps.workloads.drivers.errors import CannotSee
from apps.workloads.drivers.said import Code, Said
from tests.drivers.kit import eventually

PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def _hastily(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "TRY_AGAIN_S", 0.01)
    monkeypatch.setattr(forwarding, "ACCEPT_AGAIN_S", 0.01)


@pytest.fixture
def forwards() -> Iterator[Forwards]:
    made = Forwards()
    yield made
    if made._folder is not None:
        for path in made._folder.iterdir():
            path.unlink()
        made._folder.rmdir()


class Port:
    """Answers each connection by its number, after so many failures."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.count = 0

    def connect(self) -> socket.socket:
        if self.failures:
            raise self.failures.pop(0)
        near, far = socket.socketpair()
        self.count += 1
        far.sendall(b"%d" % self.count)
        far.close()
        return near


def answer(path: Path) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE_S)
        client.connect(str(path))
        return client.recv(16)


def gone() -> Exception:
    return CannotSee(Said(Code.SHIM_SILENT))


def test_who_was_not_answered_in_a_crowd_asks_again(forwards: Forwards) -> None:
    port = Port(gone(), gone())
    assert answer(forwards.path("one", port.connect)) == b"1"


def test_what_the_other_end_says_is_not_asked_again(forwards: Forwards) -> None:
    port = Port(DriverError(Said(Code.NOT_LISTENING, {"port": 1})))
    assert answer(forwards.path("one", port.connect)) == b""
    assert port.count == 0


def test_who_is_never_answered_is_let_go(forwards: Forwards) -> None:
    port = Port(*(gone() for _each in range(forwarding.TRIES)))
    assert answer(forwards.path("one", port.connect)) == b""
    assert (port.failures, port.count) == ([], 0)


def test_a_moment_without_descriptors_ends_nothing(forwards: Forwards, monkeypatch: pytest.MonkeyPatch) -> None:
    port, real, short = Port(), socket.socket.accept, [OSError(errno.EMFILE, "too many open files")]

    def accept(self: socket.socket) -> tuple[socket.socket, object]:
        if short and self.getsockname().endswith("/short.sock"):
            raise short.pop()
        return real(self)

    monkeypatch.setattr(socket.socket, "accept", accept)
    assert answer(forwards.path("short", port.connect)) == b"1"
    assert not short


def test_an_idle_socket_goes_and_comes_back(forwards: Forwards, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "IDLE_S", 0.01)
    port = Port()
    path: Callable[[], Path] = lambda: forwards.path("one", port.connect)  # noqa: E731
    first = path()
    eventually(first.exists, lambda there: not there)
    monkeypatch.setattr(forwarding, "IDLE_S", PATIENCE_S)
    assert answer(path()) == b"1"


def test_who_comes_as_an_idle_socket_goes_is_served(forwards: Forwards, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait is over before the client is there, and the socket goes only after it."""
    port, real = Port(), socket.socket.accept
    late, there = socket.socket(socket.AF_UNIX), threading.Event()
    late.settimeout(PATIENCE_S)

    def accept(self: socket.socket) -> tuple[socket.socket, object]:
        if self.gettimeout() and self.getsockname().endswith("/late.sock"):
            late.connect(self.getsockname())
            there.set()
            raise TimeoutError
        return real(self)

    monkeypatch.setattr(socket.socket, "accept", accept)
    forwards.path("late", port.connect)
    with late:
        assert there.wait(PATIENCE_S)
        assert late.recv(16) == b"1"
