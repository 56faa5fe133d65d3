"""Connections to other registries: to checked addresses alone, wherever a redirect or a token's realm leads."""

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from django.conf import LazySettings

from apps.common.errors import Invalid
from apps.registry.transfers import sources
from apps.registry.transfers.addresses import Address
from apps.workloads.drivers.local.oci.registry import Unreachable
from tests.drivers.registries import answer

pytestmark = [pytest.mark.django_db, pytest.mark.programs]


@contextmanager
def answering(status: int, headers: dict[str, str]) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self, status, b"{}", headers)

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def opened(host: str, settings: LazySettings, *, private: bool = True) -> sources.oci_registry.Registry:
    settings.IMAGE_PULL_RULES = replace(settings.IMAGE_PULL_RULES, plain_http=(host,))
    settings.IMAGE_SOURCES_PRIVATE = [host] if private else []
    return sources.opened(Address(host, "a/b", "1"), "", ["*", host])


def test_a_private_address_is_refused_unless_the_operator_names_it(settings: LazySettings) -> None:
    with answering(200, {}) as host:
        assert opened(host, settings).manifest("1") == b"{}"
        with pytest.raises(Invalid):
            opened(host, settings, private=False).manifest("1")


@pytest.mark.parametrize(
    "place", ["http://169.254.169.254/latest/", "http://localhost:1/", "http://[::1]/", "http://10.0.0.1/"]
)
def test_a_redirect_leads_to_no_private_address(settings: LazySettings, place: str) -> None:
    with answering(307, {"Location": place}) as host, pytest.raises((Invalid, Unreachable)):
        opened(host, settings).small_blob("sha256:0")


def test_a_tokens_realm_is_no_private_address(settings: LazySettings) -> None:
    realm = {"WWW-Authenticate": 'Bearer realm="http://127.0.0.1:1/token",service="x"'}
    with answering(401, realm) as host, pytest.raises(Invalid):
        opened(host, settings).manifest("1")


def test_a_name_is_resolved_once_and_that_address_is_connected_to(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that leads elsewhere the second time gains nothing."""
    asked, reached = [], []

    def resolve(host: str, *rest: object, **more: object) -> list[object]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34" if len(asked) == 1 else "127.0.0.1", 443))]

    def connect(place: tuple[str, int], *rest: object) -> socket.socket:
        reached.append(place)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setattr(sources.oci_registry, "TRIES", 1)
    registry = sources.opened(Address("rebinding.example", "a", "1"), "", ["*"])
    with pytest.raises(sources.oci_registry.Unreachable):
        registry.manifest("1")
    assert (asked, reached) == (["rebinding.example"], [("93.184.216.34", 443)])
