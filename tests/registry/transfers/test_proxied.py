"""Pulls through the proxy of the settings: by name, over TLS that is the registry's, to no private address either."""

import select
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest
from django.conf import LazySettings

from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.registry.transfers import sources
from apps.registry.transfers.addresses import Address
from apps.tenants import settings as store
from apps.workloads.drivers.local.oci import registry as oci_registry
from apps.workloads.software_sources import SourceSettings
from tests.builders import platform
from tests.drivers.indexes import FAR, Index, index

pytestmark = [pytest.mark.django_db, pytest.mark.programs]


class Tunnel(socketserver.BaseRequestHandler):
    """Leads every tunnel to one port here, whatever name is asked for."""

    asked: ClassVar[list[str]]
    port: ClassVar[int]
    answer: ClassVar[bytes]

    def handle(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head and (piece := self.request.recv(1024)):
            head += piece
        self.asked.append(head.partition(b"\r\n")[0].decode())
        self.request.sendall(self.answer)
        if b" 200 " not in self.answer:
            return
        with socket.create_connection(("127.0.0.1", self.port)) as far:
            pair = {self.request: far, far: self.request}
            while True:
                for near in select.select(list(pair), [], [], 10)[0]:
                    data = near.recv(65536)
                    if not data:
                        return
                    pair[near].sendall(data)


@contextmanager
def tunnelling(port: int, answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n") -> Iterator[type[Tunnel]]:
    class Handler(Tunnel):
        asked: ClassVar[list[str]] = []

    Handler.port, Handler.answer = port, answer
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with acting(platform()):
            kept = store.get(SourceSettings)
            changed = SourceSettings(
                certificates=kept.certificates,
                proxy=f"http://127.0.0.1:{server.server_address[1]}",
                no_proxy="near.example",
            )
            store.put(platform(), changed)
        try:
            yield Handler
        finally:
            server.shutdown()


@pytest.fixture
def far(tmp_path: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """A registry that has nothing, under a name that only the proxy knows."""
    settings.PLSTACK_HOME = str(tmp_path)
    monkeypatch.setattr(oci_registry, "TRIES", 1)
    with index(tmp_path) as found:
        with acting(platform()):
            store.put(platform(), SourceSettings(certificates=found.authority))
        yield found


def asked_of(host: str) -> oci_registry.Registry:
    return sources.opened(Address(host, "a/b", "1"), "", ["*"])


def test_it_goes_by_name_and_the_certificate_is_the_registrys(far: Index) -> None:
    with pytest.raises(Invalid):
        asked_of(FAR).manifest("1")  # nothing resolves it here
    with tunnelling(far.port) as proxy:
        with pytest.raises(oci_registry.Refused) as caught:
            asked_of(FAR).manifest("1")
        assert (caught.value.status, far.asked) == (404, ["/v2/a/b/manifests/1"])
        assert proxy.asked == [f"CONNECT {FAR}:443 HTTP/1.1"]
        with pytest.raises(oci_registry.BadCertificate):
            asked_of("other.example").manifest("1")


@pytest.mark.parametrize("answer", [b"HTTP/1.1 403 Forbidden\r\n\r\n", b"", b"HTTP/1.1 " + b"x" * 20_000])
def test_a_proxy_that_refuses_is_named(far: Index, answer: bytes) -> None:
    with tunnelling(far.port, answer), pytest.raises(oci_registry.Unreachable, match="proxy of the settings"):
        asked_of(FAR).manifest("1")


@pytest.mark.parametrize("host", ["localhost", "registry.internal", "10.0.0.1", "169.254.169.254"])
def test_it_is_no_way_to_private_addresses(far: Index, host: str) -> None:
    with tunnelling(far.port) as proxy:
        with pytest.raises(Invalid):
            asked_of(host).manifest("1")
        assert proxy.asked == []


def test_a_port_of_its_own_is_asked_through_it_only_where_it_is_listed(far: Index) -> None:
    with tunnelling(far.port) as proxy:
        address = Address(f"{FAR}:5000", "a/b", "1")
        with pytest.raises(Invalid):
            sources.opened(address, "", ["*"]).manifest("1")
        with pytest.raises(oci_registry.Refused):
            sources.opened(address, "", ["*", f"{FAR}:5000"]).manifest("1")
        assert proxy.asked == [f"CONNECT {FAR}:5000 HTTP/1.1"]


def test_who_is_excepted_is_asked_directly(far: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    with tunnelling(far.port) as proxy:
        resolve = lambda host, *rest, **more: [(2, 1, 6, "", ("93.184.216.34", 443))]  # noqa: E731
        monkeypatch.setattr(socket, "getaddrinfo", resolve)
        assert sources.way_to("https", "hub.near.example", None, frozenset({443})).proxy is None
        assert sources.way_to("http", "hub.example", None, frozenset({80, 443})).proxy is None
        way = sources.way_to("https", "hub.example", None, frozenset({443}))
        assert way.proxy is not None
        assert way.target.host == "hub.example"
    assert proxy.asked == []
