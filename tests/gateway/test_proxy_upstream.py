"""The way out where the operator's own proxy has to be passed."""

import socket
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from apps.workloads.drivers.base import SoftwareSources
from apps.workloads.gateway.egress import Policy
from apps.workloads.gateway.proxy import Proxy
from tests.gateway.proxies import Running, serving, target

__all__ = ["target"]


@dataclass
class Upstream:
    """An operator's proxy, which leads everything to one port, or refuses."""

    port: int
    asked: list[str]
    answer: bytes = b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\n"


@pytest.fixture
def upstream(target: int) -> Iterator[Upstream]:
    listener = socket.create_server(("127.0.0.1", 0))
    found = Upstream(listener.getsockname()[1], [])

    def serve(peer: socket.socket) -> None:
        head = peer.recv(65536)
        found.asked.append(head.partition(b"\r\n")[0].decode())
        with socket.create_connection(("127.0.0.1", target)) as there:
            if head.startswith(b"CONNECT"):
                peer.sendall(found.answer)
                head = peer.recv(65536)
            there.sendall(head)
            while data := there.recv(65536):
                peer.sendall(data)
        peer.close()

    def accept() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(peer,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield found
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


@pytest.fixture
def behind(tmp_path: Path, target: int, upstream: Upstream) -> Iterator[Running]:
    """A proxy that has to go through the operator's, but to mirror.lab."""

    def resolver(host: str, port: int) -> Sequence[str]:
        known = {"mirror.lab": ["127.0.0.1"], "inner.lab": ["10.0.0.1"], "public.example": ["8.8.8.8"]}
        if host not in known:
            raise OSError("no such name")
        return known[host]

    sources = SoftwareSources(proxy=f"http://127.0.0.1:{upstream.port}", no_proxy=".lab")
    policy = Policy(None, (f"mirror.lab:{target}",), resolver, lambda: sources)
    yield from serving(Proxy(policy, tmp_path / "run" / "egress" / "egress.sock"))


def test_the_operators_proxy_leads_further_what_is_not_near(behind: Running, upstream: Upstream, target: int) -> None:
    inner = b"GET /inside HTTP/1.0\r\nHost: x\r\n\r\n"
    for host in ("public.example", "known-to-the-proxy.example"):
        answer = behind.send(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode() + inner)
        assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.0 200")
    assert b"HTTP/1.0 200" in behind.send(b"GET http://public.example/a?b HTTP/1.1\r\nHost: public.example\r\n\r\n")
    assert behind.send(f"GET http://mirror.lab:{target}/near HTTP/1.1\r\n\r\n".encode()).endswith(b"None")
    assert upstream.asked == [
        "CONNECT public.example:443 HTTP/1.1",
        "CONNECT known-to-the-proxy.example:443 HTTP/1.1",
        "GET http://public.example/a?b HTTP/1.1",
    ]


def test_the_operators_proxy_is_no_way_to_what_is_private(behind: Running, upstream: Upstream) -> None:
    for host in ("inner.lab", "10.0.0.1", "169.254.169.254", "localhost", "intranet", "db.corp", "mirror.lab"):
        assert behind.send(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode()).startswith(b"HTTP/1.1 40")
    assert upstream.asked == []


def test_what_the_operators_proxy_refuses_is_said(behind: Running, upstream: Upstream) -> None:
    upstream.answer = b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"
    answer = behind.send(b"CONNECT public.example:443 HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 502")
    assert b"407 Proxy Authentication Required" in answer
