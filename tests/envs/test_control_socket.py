"""Asking programs inside an environment: they may lie, dawdle, and swap what stands at their address."""

import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.envs.control import STEPS, Unreachable, request_json
from apps.workloads.drivers.sockets import Endpoint


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path: a socket's may have 107 bytes."""
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


def serve(path: Path, pieces: list[bytes], pause_s: float = 0.0) -> list[int]:
    """Answers each connection with the pieces; the list grows with every connection."""
    met: list[int] = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def run() -> None:
        while True:
            connection, _address = listener.accept()
            met.append(1)
            try:
                connection.recv(65536)
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(pause_s)
            except OSError:
                pass
            finally:
                connection.close()

    threading.Thread(target=run, daemon=True).start()
    return met


def test_an_answer_is_read(folder: Path) -> None:
    serve(folder / "8080.sock", [b"HTTP/1.0 200 OK\r\n\r\n", b'{"a": 1}'])
    assert request_json(Endpoint(socket_path=str(folder / "8080.sock")), "GET", "/", timeout=60) == (200, {"a": 1})


def test_a_link_to_somebody_elses_socket_is_not_followed(folder: Path) -> None:
    met = serve(folder / "other.sock", [b"HTTP/1.0 200 OK\r\n\r\nnull"])
    os.symlink(folder / "other.sock", folder / "8080.sock")
    with pytest.raises(Unreachable):
        request_json(Endpoint(socket_path=str(folder / "8080.sock")), "DELETE", "/everything")
    assert met == []


def test_an_answer_that_comes_a_byte_at_a_time_is_not_waited_for(folder: Path) -> None:
    serve(folder / "8080.sock", [b"HTTP/1.0 200 OK\r\nContent-Length: 1000\r\n\r\n", *[b" "] * 1000], pause_s=0.05)
    began = time.monotonic()
    with pytest.raises(Unreachable):
        request_json(Endpoint(socket_path=str(folder / "8080.sock")), "GET", "/", timeout=0.3)
    assert time.monotonic() - began < 1000 * 0.05 / 2, f"it gives up after {STEPS} steps, long before the end"
