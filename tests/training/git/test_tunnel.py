"""Whatever git asks for, one address is connected to: the one that was checked."""

import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.common.outgoing import PinnedTarget
from apps.training.git import tunnel as module
from apps.training.git.tunnel import Tunnel, tunnel
from apps.workloads.gateway.egress import Way

WAY = Way(PinnedTarget("93.184.216.34", 443, "git.example"))
HOSTS = st.sampled_from(["git.example", "GIT.example", "127.0.0.1", "[::1]", "git.example.evil", "169.254.169.254", ""])
PORTS = st.sampled_from(["443", "0443", "80", "22", "", "443 "])
METHODS = st.sampled_from(["CONNECT", "connect", "GET", "POST"])


@contextmanager
def opened() -> Iterator[tuple[Tunnel, Path, list[Way]]]:
    """A tunnel whose far ends are sockets of ours; and the ways that were gone."""
    gone: list[Way] = []
    ends: list[socket.socket] = []

    def connected(way: Way, timeout: float) -> socket.socket:
        gone.append(way)
        near, far = socket.socketpair()
        ends.append(far)
        return near

    with tempfile.TemporaryDirectory() as folder, patch.object(module, "connected", connected):
        path = Path(folder, "socket")
        with tunnel(WAY, path) as found:
            yield found, path, gone
        assert not path.exists()
    for each in ends:
        each.close()


def answer(path: Path, head: bytes) -> bytes:
    """The first line of what is said to this head; empty where the connection is closed instead."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(30)
        client.connect(str(path))
        client.sendall(head)
        client.shutdown(socket.SHUT_WR)
        said = b""
        while b"\r\n" not in said and (piece := client.recv(4096)):
            said += piece
    return said.partition(b"\r\n")[0]


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(METHODS, HOSTS, PORTS), min_size=1, max_size=8))
def test_no_other_address_is_connected_to(asked: list[tuple[str, str, str]]) -> None:
    with opened() as (found, path, gone):
        for method, host, port in asked:
            right = (method, host, port) == ("CONNECT", "git.example", "443")
            said = answer(path, f"{method} {host}:{port} HTTP/1.1\r\nHost: git.example:443\r\n\r\n".encode())
            assert (b" 200 " in said) == right
        assert set(gone) <= {WAY}
        assert len(gone) == sum(each == ("CONNECT", "git.example", "443") for each in asked)
        assert len(found.elsewhere) == len(asked) - len(gone)


@pytest.mark.parametrize("head", [b"", b"CONNECT git.example:443 HTTP/1.1\r\n", b"x" * 20_000, b"\r\n\r\n"])
def test_what_is_no_request_is_not_led_anywhere(head: bytes) -> None:
    with opened() as (_found, path, gone):
        assert b" 200 " not in _said(path, head)
        assert gone == []


def _said(path: Path, head: bytes) -> bytes:
    """A peer that is refused before it has sent all may find the connection reset."""
    try:
        return answer(path, head)
    except OSError:
        return b""


def test_a_host_that_does_not_answer_is_remembered() -> None:
    with opened() as (found, path, _gone), patch.object(module, "connected", side_effect=OSError):
        assert b" 502 " in answer(path, b"CONNECT git.example:443 HTTP/1.1\r\n\r\n")
    assert found.unreachable
