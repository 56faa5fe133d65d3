"""Where the platform may connect on behalf of tenants: the address check against server-side request forgery.

A name is resolved once and the connection goes to the address that was checked, so a name that resolves differently a
moment later (DNS rebinding) gains nothing. Redirects are new addresses: follow none, or check each one.
"""

import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.common.networks import Address, is_special

PORTS = {"http": 80, "https": 443}
LONGEST_NAME = 253
Resolver = Callable[[str, int], Sequence[str]]


class UnknownName(Invalid):
    """The name of the host leads nowhere, as far as is known here."""


class NotPublic(Invalid):
    """The host is private, local or reserved, and no operator allows it."""


class PortRefused(Invalid):
    """Nothing may be asked on this port, unless an operator allows it for the host."""


@dataclass(frozen=True, slots=True)
class PinnedTarget:
    """A checked target: connect to `address`:`port`, and name it `host` in Host and in TLS (SNI, certificate)."""

    address: str
    port: int
    host: str


def system_resolver(host: str, port: int) -> Sequence[str]:
    """The addresses that this machine's resolver gives for `host`, in its order; raises OSError. May block."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def resolve_public(
    url: str,
    allow: Iterable[str] = (),
    *,
    ports: Iterable[int] | None = None,
    resolver: Resolver = system_resolver,
    unknown_names: bool = False,
) -> PinnedTarget:
    """Check an http(s) address given by a tenant and pin it to one public address.

    `allow` lists private targets that the operator permits: "host" (ports 80 and 443), "host:port" or a network such as
    "10.1.0.0/16". `ports` are those that any host may be asked on; None means 80 and 443. `unknown_names`: one that
    does not resolve here, and may be a public one, is pinned to no address, for a proxy that resolves it. Raises
    Invalid in words that say nothing about what an internal name resolves to. Blocks while it resolves.
    """
    parts = _split(url)
    host = _host(parts)
    port = _port(parts)
    allowed = frozenset(entry.strip().lower() for entry in allow)
    trusted = _is_named(host, port, allowed)
    if not trusted and port not in (frozenset(PORTS.values()) if ports is None else frozenset(ports)):
        raise PortRefused(_("This port cannot be used."), hint=_("Use an address on port 80 or 443."))
    addresses = _resolve(host, port, resolver)
    if not addresses and unknown_names and not _is_inner(host):
        return PinnedTarget("", port, host)
    if not addresses:
        raise UnknownName(_("The name of this host cannot be found."), hint=_("Check the spelling of the address."))
    if not trusted and not all(_in_networks(one, allowed) for one in addresses if is_special(one)):
        raise NotPublic(
            _("This address is not a public one."),
            hint=_("Private, local and reserved addresses cannot be used; an operator can allow single hosts."),
        )
    return PinnedTarget(str(addresses[0]), port, host)


def host_of(url: str) -> str:
    """The host of an http(s) address, in ASCII and lower case; raises Invalid for anything else."""
    return _host(_split(url))


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise Invalid(_("This is not a web address.")) from None
    # Parsers disagree on blanks and backslashes; an address that reads two ways is refused.
    if parts.scheme not in PORTS or any(sign <= " " or sign == "\\" for sign in url):
        raise Invalid(_("This is not a web address."), hint=_("It starts with https:// or http://."))
    if "@" in parts.netloc:
        raise Invalid(_("Leave user name and password out of the address."))
    return parts


def _host(parts: SplitResult) -> str:
    name = (parts.hostname or "").removesuffix(".")
    try:
        host = name if ":" in name else name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        host = ""
    if not host or len(host) > LONGEST_NAME or "%" in host:
        raise Invalid(_("This is not a web address."))
    return host


def _port(parts: SplitResult) -> int:
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise Invalid(_("This port cannot be used."))
    return port or PORTS[parts.scheme]


def _is_named(host: str, port: int, allowed: frozenset[str]) -> bool:
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port}" in allowed or (host in allowed and port in PORTS.values())


def _resolve(host: str, port: int, resolver: Resolver) -> list[Address]:
    """Empty for a name that is not known."""
    try:
        return [ip_address(text) for text in resolver(host, port)]
    except (OSError, UnicodeError, ValueError):
        return []


# Names that mean something within one network only: RFC 6761, 6762, 8375 and ICANN's "internal".
_INNER = (".localhost", ".local", ".internal", ".home.arpa", ".lan", ".intranet", ".corp", ".private")


def _is_inner(host: str) -> bool:
    """An address is none either, however it is written: nothing resolves it to another one."""
    last = host.rpartition(".")[2]
    return "." not in host or ":" in host or host.endswith(_INNER) or last[0].isdigit()


def _in_networks(address: Address, allowed: frozenset[str]) -> bool:
    return any(address in ip_network(entry, strict=False) for entry in allowed if "/" in entry)
