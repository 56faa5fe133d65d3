"""Asking the program inside an environment, over a socket in a folder that is the workload's."""

import socket
import threading
from pathlib import Path

import pytest

from apps.envs import control
from apps.workloads.drivers.sockets import Endpoint

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"idle": true}'


def _serving(path: Path) -> tuple[socket.socket, list[bytes]]:
    """A socket at `path` that answers one request after the other, and what it was asked."""
    asked: list[bytes] = []
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                asked.append(peer.recv(4096))
                peer.sendall(ANSWER)

    threading.Thread(target=serve, daemon=True).start()
    return listener, asked


def test_a_link_swapped_in_after_the_check_is_not_followed(tmp_path: Path) -> None:
    own, asked = _serving(tmp_path / "own.sock")
    victim, asked_of_victim = _serving(tmp_path / "victim.sock")
    endpoint = Endpoint(socket_path=str(tmp_path / "own.sock"))
    with own, victim:
        control.ask(endpoint, "GET", "/status")
        (tmp_path / "own.sock").unlink()
        (tmp_path / "own.sock").symlink_to(tmp_path / "victim.sock")
        with pytest.raises(control.Unreachable):
            control.ask(endpoint, "POST", "/stop")
    assert len(asked) == 1
    assert asked_of_victim == []
