"""Other registries: from which of them one may pull, and connections that go to checked addresses alone.

Each connection, also one that a redirect or a token's realm asks for, resolves its name once, has the address checked
(`apps.common.outgoing`) and goes there; the name is still what the certificate has to be for. Where the settings of
software sources name a proxy, it goes through that one, which resolves names on its own: so a name that is not known
here is left to it, one that is known is checked all the same. Registries without TLS are the operator's own, and near.
"""

import base64
import http.client
import re
import socket
import ssl
import urllib.request
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.outgoing import PORTS, resolve_public
from apps.registry.transfers.addresses import Address
from apps.registry.transfers.models import PullSources
from apps.workloads.drivers.local.oci import registry as oci_registry
from apps.workloads.gateway.egress import Way, address_of, is_direct
from apps.workloads.gateway.ways import connected, shown_host
from apps.workloads.software_sources import chosen

ENTRY = re.compile(r"(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?", re.ASCII)
ANY = "*"
MOST_ENTRIES = 100


def read_hosts(text: str) -> list[str]:
    """Hosts as an operator types them, with blanks or commas between. Raises `Invalid` (field `hosts`)."""
    found = list(dict.fromkeys(re.split(r"[\s,，]+", text.strip().lower()))) if text.strip() else []
    for entry in found:
        if entry != ANY and not ENTRY.fullmatch(entry):
            raise Invalid.field(
                "hosts",
                _("“%(host)s” is not a host.") % {"host": entry},
                hint=_("Write hosts as in ghcr.io, registry.example.edu:5000 or *.example.edu; * for all."),
            )
    if len(found) > MOST_ENTRIES:
        raise Invalid.field("hosts", _("There may be 100 hosts at most."))
    return found


def own_hosts(organisation_id: UUID) -> list[str] | None:
    """What an operator set for the organisation; None where nobody did."""
    found: list[str] | None = (
        PullSources.objects.filter(organisation_id=organisation_id).values_list("hosts", flat=True).first()
    )
    return found


def hosts_of(organisation_id: UUID) -> list[str]:
    """From where the organisation may pull: what an operator set for it, else the installation's."""
    own = own_hosts(organisation_id)
    return list(settings.IMAGE_SOURCES) if own is None else own


def is_allowed(host: str, hosts: Iterable[str]) -> bool:
    """`host`: with its port where it has one. An entry without a port allows the usual ones."""
    name, _colon, port = host.partition(":")
    usual = port in ("", "80", "443")
    return any(
        entry in (ANY, host) or (usual and entry == name) or _is_below(host if ":" in entry else name, entry, usual)
        for entry in hosts
    )


def _is_below(host: str, entry: str, usual: bool) -> bool:
    return entry.startswith("*.") and host.endswith(entry[1:]) and (usual or ":" in entry)


def require_allowed(organisation_id: UUID, address: Address) -> None:
    """Raises `Invalid` (field `address`)."""
    if not is_allowed(address.host, hosts_of(organisation_id)):
        raise Invalid.field(
            "address",
            _("Images may not be pulled from %(host)s.") % {"host": address.host},
            hint=_("The platform's administrators decide from which registries your organisation pulls."),
        )


def opened(address: Address, login: str, hosts: Iterable[str]) -> oci_registry.Registry:
    """The repository that the address names. `login`: "user:password", "" for none."""
    basic = base64.b64encode(login.encode()).decode() if login else ""
    plain = address.api_host in settings.IMAGE_PULL_RULES.plain_http
    access = oci_registry.Access(address.api_host, plain, basic=basic)
    context = ssl.create_default_context()
    if authorities := chosen().certificates:  # those that staff trust for software sources
        context.load_verify_locations(cadata=authorities)
    ports = ports_of(address, hosts)
    handlers = (urllib.request.ProxyHandler({}), _Http(ports), _Https(ports, context))
    return oci_registry.Registry(access, address.repository, handlers)


def ports_of(address: Address, hosts: Iterable[str]) -> frozenset[int]:
    """A port beside the usual ones only where an operator names this host with it, be it among the private ones."""
    host = address.api_host
    port = host.partition(":")[2]
    named = any(
        entry == host or (entry.startswith("*.") and _is_below(host, entry, usual=False))
        for entry in (*hosts, *settings.IMAGE_SOURCES_PRIVATE)
    )
    return frozenset({*PORTS.values(), int(port)} if port and named else PORTS.values())


def way_to(scheme: str, host: str, port: int | None, ports: frozenset[int]) -> Way:
    """A checked target, and through which proxy. Raises `Invalid` for where the platform does not connect."""
    found = chosen()
    proxied = scheme == "https" and not is_direct(host, found.no_proxy)
    proxy = address_of(found.proxy) if proxied else None
    url = f"{scheme}://{shown_host(host)}{'' if port is None else f':{port}'}/"
    private = settings.IMAGE_SOURCES_PRIVATE
    return Way(resolve_public(url, private, ports=ports, unknown_names=proxy is not None), proxy)


class _Connecting:
    """Stands in for `socket.create_connection` in a connection of `http.client`."""

    def __init__(self, scheme: str, ports: frozenset[int]) -> None:
        self._scheme, self._ports = scheme, ports

    def __call__(self, place: tuple[str, int], timeout: Any = None, source: Any = None) -> socket.socket:
        return connected(way_to(self._scheme, place[0], place[1], self._ports), timeout, source)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, ports: frozenset[int]) -> None:
        super().__init__()
        self._connecting = _Connecting("http", ports)

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connection, req)

    def _connection(self, host: str, /, **options: Any) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(host, **options)
        connection._create_connection = self._connecting  # type: ignore[attr-defined]
        return connection


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, ports: frozenset[int], context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._connecting, self._trusted = _Connecting("https", ports), context

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connection, req)

    def _connection(self, host: str, /, **options: Any) -> http.client.HTTPConnection:
        connection = http.client.HTTPSConnection(host, context=self._trusted, **options)
        connection._create_connection = self._connecting  # type: ignore[attr-defined]
        return connection
