"""Fetching a bill from the address that the gateway has signed: from there only, up to a limit, no redirects."""

import zlib
from time import monotonic
from urllib.parse import SplitResult, urlsplit

import urllib3

from apps.billing.payments.alipay.client import OutcomeUnknown
from apps.common.errors import Invalid
from apps.common.outgoing import PORTS, PinnedTarget, Resolver, resolve_public, system_resolver

MOST_BYTES = 20 << 20
TIMEOUT = urllib3.Timeout(connect=5.0, read=20.0)
WHOLE_S = 120.0
PIECE = 1 << 16


def fetch(url: str, *, gateway: str, resolver: Resolver = system_resolver) -> bytes:
    """The body of a 200 from a public address or from the gateway's own host; `Unknown` for everything else.

    Unencrypted only if the gateway itself is, such as one on loopback.
    """
    parts, own = urlsplit(url), urlsplit(gateway)
    if parts.scheme != "https" and (parts.scheme, parts.netloc) != (own.scheme, own.netloc):
        raise OutcomeUnknown("the bill is elsewhere, without encryption")
    try:
        target = resolve_public(url, [_host_and_port(own)], ports=[443], resolver=resolver)
        return _get(parts, target)
    except Invalid as error:
        raise OutcomeUnknown("the bill is at an address that may not be asked") from error
    except (urllib3.exceptions.HTTPError, OSError, zlib.error) as error:
        raise OutcomeUnknown(type(error).__name__) from error


def _get(parts: SplitResult, target: PinnedTarget) -> bytes:
    """From the address that was checked; the name is asked for in Host and in TLS."""
    named = f"[{target.host}]" if ":" in target.host else target.host
    host = named if target.port == PORTS[parts.scheme] else f"{named}:{target.port}"
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    with _pool(parts, target) as pool:
        answer = pool.urlopen(
            "GET", path, headers={"Host": host}, timeout=TIMEOUT, retries=False, redirect=False, preload_content=False
        )
        try:
            if answer.status != 200:
                raise OutcomeUnknown(f"status {answer.status}")
            return _body(answer)
        finally:
            answer.release_conn()


def _body(answer: urllib3.BaseHTTPResponse) -> bytes:
    """The whole body within one deadline: a server that trickles bytes would otherwise hold a worker for ever."""
    until, pieces, size = monotonic() + WHOLE_S, [], 0
    for piece in answer.stream(PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise OutcomeUnknown("too long")
        if monotonic() > until:
            raise OutcomeUnknown("too slow")
    return b"".join(pieces)


def _pool(parts: SplitResult, target: PinnedTarget) -> urllib3.HTTPConnectionPool:
    if parts.scheme == "https":
        return urllib3.HTTPSConnectionPool(
            target.address, target.port, server_hostname=target.host, assert_hostname=target.host
        )
    return urllib3.HTTPConnectionPool(target.address, target.port)


def _host_and_port(own: SplitResult) -> str:
    host = own.hostname or ""
    return f"[{host}]:{own.port or PORTS[own.scheme]}" if ":" in host else f"{host}:{own.port or PORTS[own.scheme]}"
