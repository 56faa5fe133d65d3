"""What passes and what never does."""

import pytest
from django.conf import LazySettings

from apps.workloads.gateway import headers, hosts
from apps.workloads.gateway.hosts import Address
from tests.builders import unknown_id

LAB = Address(unknown_id())


@pytest.fixture(autouse=True)
def origin(settings: LazySettings) -> None:
    settings.GATEWAY_ORIGIN = "http://apps.localhost:8001"


def passed(*pairs: tuple[bytes, bytes]) -> dict[bytes, bytes]:
    return dict(headers.to_workload(list(pairs), LAB))


@pytest.mark.parametrize(
    "name",
    [
        b"x-forwarded-for",
        b"x_forwarded_for",
        b"forwarded",
        b"x-real-ip",
        b"remote-user",
        b"x-remote-user",
        b"x-auth-request-email",
        b"x-plstack-user",
        b"connection",
        b"keep-alive",
        b"te",
        b"trailer",
        b"upgrade",
        b"proxy-authorization",
        b"transfer-encoding",
        b"expect",
    ],
)
def test_claims_and_hop_by_hop_headers_stay_here(name: bytes) -> None:
    assert name not in passed((name, b"admin"))


def test_what_connection_names_stays_here_too() -> None:
    assert b"x-secret" not in passed((b"connection", b"close, X-Secret"), (b"x-secret", b"1"))


def test_ordinary_headers_pass() -> None:
    told = passed((b"x-xsrftoken", b"t"), (b"authorization", b"token jupyter"), (b"range", b"bytes=0-1"))
    assert told[b"x-xsrftoken"] == b"t"
    assert told[b"authorization"] == b"token jupyter"
    assert told[b"range"] == b"bytes=0-1"


def test_the_host_is_the_one_that_the_browser_sees() -> None:
    told = passed((b"host", b"evil"), (b"x-forwarded-host", b"evil"), (b"x-forwarded-proto", b"https"))
    assert told[b"host"] == told[b"x-forwarded-host"] == hosts.netloc(LAB).encode()
    assert told[b"x-forwarded-proto"] == b"http"


def test_the_platforms_cookies_stay_here() -> None:
    cookie = b"plstack_session=s; a=1; plstack_app=t; __Host-plstack_app=u; plstack_csrf=c; b=2"
    assert passed((b"cookie", cookie))[b"cookie"] == b"a=1; b=2"
    assert b"cookie" not in passed((b"cookie", b"plstack_app=t"))


def test_platform_tokens_stay_here() -> None:
    assert b"authorization" not in passed((b"authorization", b"Bearer pls_abcdef"))


@pytest.mark.parametrize(
    "cookie", [b"a=1; Domain=apps.localhost; Path=/", b"a=1;DOMAIN=.localhost; Path=/", b"a=1; domain ; Path=/"]
)
def test_a_workloads_cookies_stay_on_its_host(cookie: bytes) -> None:
    assert b"domain" not in dict(headers.to_browser([(b"Set-Cookie", cookie)]))[b"set-cookie"].lower()


@pytest.mark.parametrize(
    "name", [b"plstack_app", b"PLSTACK_APP", b"__Host-plstack_app", b"plstack_session", b" plstack_app "]
)
def test_a_workload_cannot_write_our_cookies(name: bytes) -> None:
    assert headers.to_browser([(b"Set-Cookie", name + b"=x")]) == []


def test_its_own_policy_is_left_alone() -> None:
    kept = headers.to_browser([(b"Content-Security-Policy", b"p"), (b"Alt-Svc", b"h3"), (b"Content-Encoding", b"gzip")])
    assert kept == [(b"content-security-policy", b"p"), (b"content-encoding", b"gzip")]


def fetch(site: bytes, mode: bytes = b"no-cors", dest: bytes = b"empty") -> headers.Headers:
    return [(b"sec-fetch-site", site), (b"sec-fetch-mode", mode), (b"sec-fetch-dest", dest)]


def test_other_sites_may_lead_here_and_nothing_else() -> None:
    link = fetch(b"cross-site", b"navigate", b"document")
    assert not headers.is_foreign(link, LAB, "GET")
    assert headers.is_foreign(link, LAB, "POST")
    assert headers.is_foreign(fetch(b"cross-site", b"navigate", b"iframe"), LAB, "GET")
    assert headers.is_foreign(fetch(b"same-site"), LAB, "GET")  # a neighbouring workload
    assert not headers.is_foreign(fetch(b"same-origin"), LAB, "POST")
    assert not headers.is_foreign(fetch(b"none", b"navigate", b"document"), LAB, "GET")
    assert not headers.is_foreign([], LAB, "POST")


def test_a_foreign_origin_is_foreign_whatever_else_is_said() -> None:
    for origin in (b"http://localhost:8000", b"null", b"http://apps.localhost:8001", hosts.origin(LAB).encode() + b"1"):
        assert headers.is_foreign([(b"origin", origin), *fetch(b"same-origin")], LAB, "GET")
    assert not headers.is_foreign([(b"origin", hosts.origin(LAB).encode())], LAB, "POST")


@pytest.mark.parametrize("port", ["", "lab", "a-b", "x1"])
def test_addresses_are_read_back_from_their_names(port: str) -> None:
    address = Address(unknown_id(), port)
    assert hosts.parse(hosts.netloc(address)) == address
    assert hosts.parse(hosts.netloc(address).upper()) == address


@pytest.mark.parametrize(
    "host",
    [
        "",
        "localhost:8001",
        "apps.localhost:8001",
        "-{}.apps.localhost:8001",
        "a--{}.apps.localhost:8001",
        "{}.apps.localhost",
        "{}.apps.localhost.:8001",
        "{}.x.apps.localhost:8001",
    ],
)
def test_other_names_are_no_addresses(host: str) -> None:
    assert hosts.parse(host.format(unknown_id().hex)) is None
