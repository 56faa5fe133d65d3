"""What passes the gateway in either direction, and what never does."""

import re
from collections.abc import Iterable, Iterator

from apps.workloads.gateway import hosts
from apps.workloads.gateway.hosts import Address

Headers = list[tuple[bytes, bytes]]

# RFC 9110, 7.6.1: between two neighbours only. `expect` is answered by this server.
HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding "
    b"upgrade http2-settings expect".split()
)
# Applications take these as proof of who asks and from where; nobody but a proxy of their own may say so.
CLAIMS = re.compile(
    rb"(?:forwarded|x-forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip|via|remote-(?:user|email|name|"
    rb"groups?)|x-(?:remote|auth-request|authenticated|webauth|plstack|original|rewrite|user|client)-.*|x-user|"
    rb"ssl-client-.*)"
)
WEBSOCKET = re.compile(rb"sec-websocket-.*")
# A workload must not move its visitors to other ports, nor set rules for its neighbours' hosts.
NEVER_ANSWERED = frozenset({b"alt-svc", b"public-key-pins", b"strict-transport-security"})
OURS = re.compile(rb"(?:__host-|__secure-)?plstack[_-].*", re.IGNORECASE)
PLATFORM_TOKEN = re.compile(rb"bearer\s+pls", re.IGNORECASE)


def get(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str | None:
    """The value of a header; None when it is missing."""
    return next((value.decode("latin-1") for key, value in headers if key == name), None)


def cookie_name() -> str:
    """The browser itself holds the prefixed one to this host, this path and TLS."""
    return "__Host-plstack_app" if hosts.is_secure() else "plstack_app"


def set_cookie(token: str) -> bytes:
    secure = "; Secure" if hosts.is_secure() else ""
    # Without an age: its row decides how long it lives, and is renewed by open connections too.
    return f"{cookie_name()}={token}; Path=/; HttpOnly; SameSite=Lax{secure}".encode()


def tokens(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    """Every value of our cookie: a neighbouring host can add one of the same name, which must not hide the real one."""
    wanted = cookie_name().encode()
    found = [value for name, value in _cookies(headers) if name == wanted]
    return [value.decode("latin-1") for value in found[:4]]


def to_workload(headers: Headers, address: Address, *, websocket: bool = False) -> Headers:
    """Request headers for the workload: who asks and how they proved it stays here."""
    return to_program(headers, hosts.netloc(address).encode(), websocket=websocket)


def to_program(headers: Headers, host: bytes, *, websocket: bool = False) -> Headers:
    """`to_workload` for a program that people reach as `host`."""
    dropped = HOP_BY_HOP | _named_by_connection(headers) | {b"host", b"cookie"}
    kept = [(name, value) for name, value in headers if name not in dropped and not _is_claim(name, value)]
    if websocket:
        kept = [(name, value) for name, value in kept if not WEBSOCKET.fullmatch(name)]
    cookies = b"; ".join(b"=".join(pair) for pair in _cookies(headers) if not OURS.fullmatch(pair[0]))
    scheme = b"https" if hosts.is_secure() else b"http"
    told: Headers = [(b"host", host), (b"x-forwarded-host", host), (b"x-forwarded-proto", scheme)]
    return told + kept + ([(b"cookie", cookies)] if cookies else [])


def to_browser(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Response headers for the browser, lower-cased; cookies stay on this host and leave ours alone."""
    lowered = [(name.lower(), value) for name, value in headers]
    dropped = HOP_BY_HOP | _named_by_connection(lowered) | NEVER_ANSWERED
    return [
        (name, _host_only(value) if name == b"set-cookie" else value)
        for name, value in lowered
        if name not in dropped and not (name == b"set-cookie" and OURS.fullmatch(value.partition(b"=")[0].strip()))
    ]


def is_foreign(headers: Headers, address: Address, method: str) -> bool:
    """Whether another site's page makes this request, other than by leading the person here.

    Neighbouring workloads are the same site to a browser, so its SameSite rule does not keep them apart.
    """
    origin = get(headers, b"origin")
    if origin is not None and origin != hosts.origin(address):
        return True
    if get(headers, b"sec-fetch-site") not in {"same-site", "cross-site"}:
        return False
    leads_here = get(headers, b"sec-fetch-mode") == "navigate" and get(headers, b"sec-fetch-dest") == "document"
    return not (leads_here and method in {"GET", "HEAD"})


def _cookies(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    for name, value in headers:
        if name == b"cookie":
            for pair in value.split(b";"):
                key, found, content = pair.strip().partition(b"=")
                if found:
                    yield key, content


def _named_by_connection(headers: Headers) -> frozenset[bytes]:
    named = (value.lower().split(b",") for name, value in headers if name == b"connection")
    return frozenset(part.strip() for parts in named for part in parts)


def _is_claim(name: bytes, value: bytes) -> bool:
    # Many servers read X_Forwarded_For as X-Forwarded-For.
    claim = CLAIMS.fullmatch(name.replace(b"_", b"-")) is not None
    return claim or (name == b"authorization" and PLATFORM_TOKEN.match(value) is not None)


def _host_only(cookie: bytes) -> bytes:
    parts = cookie.split(b";")
    return b";".join(part for part in parts if part.partition(b"=")[0].strip().lower() != b"domain")
