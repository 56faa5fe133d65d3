"""Whatever goes wrong under /api/ is told as problem+json; whatever is odd elsewhere is told in words."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.conf import settings as installed
from django.test import Client

from apps.common.scoping import acting
from tests.builders import World, make_staff, make_world, platform, signed_in

PROBLEM = "application/problem+json"
UNKNOWN = ["/api/nope/", "/api/v1/nope/", "/api/v1/training/runs/1/2/3/", "/api/v2/", "/api/v1/nope"]


@pytest.fixture
def world(db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world()


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "options"])
@pytest.mark.parametrize("signed", [True, False])
def test_unknown_addresses(world: World, method: str, signed: bool) -> None:
    client = signed_in(world.alice) if signed else Client()
    for path in UNKNOWN:
        answer = getattr(client, method)(path, headers={"Accept": "text/html"})
        assert (answer.status_code, answer.headers["Content-Type"]) == (404, PROBLEM), path
        assert answer.json()["code"] == "not_found"
        assert answer.json()["hint"]


def test_a_wrong_method_is_told_the_right_ones(world: World) -> None:
    for client in (signed_in(world.alice), Client()):
        answer = client.delete("/api/v1/training/runs/")
        assert (answer.status_code, answer.headers["Content-Type"]) == (405, PROBLEM)
        assert answer.headers["Allow"] == "GET, POST, HEAD, OPTIONS"


def test_a_write_without_its_slash_is_not_turned_into_a_read(world: World) -> None:
    answer = signed_in(world.alice).post("/api/v1/training/runs", "{}", content_type="application/json")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, PROBLEM)
    assert "slash" in answer.json()["hint"]
    assert signed_in(world.alice).get("/api/v1/training/runs").status_code == 301


def test_a_wrong_host(world: World, settings: LazySettings) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    answer = signed_in(world.alice).get("/api/v1/training/runs/", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, PROBLEM)


def test_a_missing_csrf_token(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.alice)
    answer = client.post("/api/v1/training/runs/", "{}", content_type="application/json")
    assert (answer.status_code, answer.headers["Content-Type"]) == (403, PROBLEM)


def test_what_breaks_is_told_as_a_problem(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr("apps.training.selectors.runs", broken, raising=False)
    monkeypatch.setattr("apps.training.api.RunList.get_queryset", broken)
    client = signed_in(world.alice)
    client.raise_request_exception = False
    answer = client.get("/api/v1/training/runs/")
    assert (answer.status_code, answer.headers["Content-Type"]) == (500, PROBLEM)
    assert "purpose" not in answer.content.decode()


def test_the_first_address_says_where_to_read_on(db: None) -> None:
    for path in ("/api/", "/api/v1/"):
        answer = Client().get(path)
        assert answer.status_code == 200
        assert answer.json()["documentation"].endswith("/api/docs/")


@pytest.mark.parametrize(
    "wanted",
    ["0", "[]", "%s", "//evil.example", "javascript:alert(1)", "http://[", "/" + "a" * 5000, "\\\\evil", "theme"],
)
def test_odd_ways_back_lead_home(world: World, wanted: str) -> None:
    client = signed_in(world.alice)
    unreadable = wanted == "http://["
    for path, data in (("/theme/", {"theme": "dark"}), ("/i18n/setlang/", {"language": "en"})):
        answer = client.post(path, {**data, "next": wanted})
        assert answer.status_code == (400 if unreadable else 302)
        assert unreadable or path != "/theme/" or answer.headers["Location"] == "/"
        assert "evil" not in answer.headers.get("Location", "")
    for path in ("/accounts/login/", "/accounts/logout/", "/organisation/"):
        assert client.post(path, {"next": wanted, "organisation": "x"}).status_code < 500
        assert client.get(path, {"next": wanted}).status_code < 500


def test_a_good_way_back_is_taken(world: World) -> None:
    answer = signed_in(world.alice).post("/theme/", {"theme": "dark", "next": "/training/?q=a"})
    assert answer.headers["Location"] == "/training/?q=a"


def forms(world: World) -> list[tuple[Client, str]]:
    staff = signed_in(make_staff())
    return [(staff, "/console/zones/new/"), (signed_in(world.alice), "/training/new/"), (Client(), "/accounts/login/")]


@pytest.mark.parametrize("text", ["\0", "a\0b", "a\x1bb", "\x9b"])
def test_control_characters_in_forms(world: World, text: str) -> None:
    for client, path in forms(world):
        for data in ({"name": text}, {text: "x"}, {"login": text, "password": text}):
            answer = client.post(path, data)
            assert 400 <= answer.status_code < 500, f"{path} {data!r}: {answer.status_code}"


def test_nul_everywhere_else(world: World) -> None:
    client = signed_in(world.alice)
    for path in ("/training/?q=%00", "/api/v1/training/runs/?q=%00", "/training/%00/", "/brand/%00", "/api/v1/x%00/"):
        assert 400 <= client.get(path).status_code < 500, path
    assert client.get("/training/?%00=1").status_code == 400
    chinese = client.get("/training/?%00=1", headers={"Accept-Language": "zh-CN"})
    assert 'lang="zh-hans"' in chinese.content.decode()
    assert client.get("/training/?q=%ff%fe").status_code < 500
    for cookie in (installed.SESSION_COOKIE_NAME, installed.LANGUAGE_COOKIE_NAME, installed.CSRF_COOKIE_NAME):
        answer = Client(headers={"Cookie": f'{cookie}="\\000abc"'}).get("/training/")
        assert answer.status_code < 500, cookie


def test_an_odd_idempotency_key(world: World) -> None:
    client = signed_in(world.alice)
    for key in ("a\0b", "\x1b", "é" * 64, "k" * 65, "汉"):
        answer = client.post(
            "/api/v1/training/runs/", "{}", content_type="application/json", headers={"Idempotency-Key": key}
        )
        assert answer.status_code == 400, key
        assert answer.headers["Content-Type"] == PROBLEM


MULTIPART = [
    ("multipart/form-data", b"x"),
    ("multipart/form-data; boundary=", b"x"),
    ("multipart/form-data; boundary=\x00", b"x"),
    ("multipart/form-data; boundary=" + "x" * 300, b"x"),
    ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nabc'),
    (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="f"; filename="\0"\r\n\r\nabc\r\n--x--',
    ),
    (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: form-data; name="name"\r\n\r\n!\r\n--x--',
    ),
    ("multipart/form-data; boundary=x; charset=hex", b"--x--"),
    (
        "multipart/form-data; boundary=x",
        b"".join(b'--x\r\nContent-Disposition: form-data; name="a%d"\r\n\r\n1\r\n' % n for n in range(2500)) + b"--x--",
    ),
    (
        "multipart/form-data; boundary=x",
        b"".join(
            b'--x\r\nContent-Disposition: form-data; name="f"; filename="a%d"\r\n\r\n1\r\n' % n for n in range(600)
        )
        + b"--x--",
    ),
    ("application/x-www-form-urlencoded", b"&".join(b"a%d=1" % n for n in range(2500))),
    ("application/x-www-form-urlencoded", b"name=%zz%ff%00"),
    ("application/x-www-form-urlencoded; charset=utf-16", b"name=x"),
]


@pytest.mark.parametrize("number", range(len(MULTIPART)))
def test_forms_that_cannot_be_read(world: World, number: int) -> None:
    kind, body = MULTIPART[number]
    staff, alice = signed_in(make_staff()), signed_in(world.alice)
    some = world.image.pk
    for client, path in (
        (staff, f"/console/invoices/{some}/issue/"),
        (staff, "/console/zones/new/"),
        (staff, f"/api/v1/console/invoices/{some}/issue/"),
        (staff, "/api/v1/console/whatif/traces/"),
        (alice, "/api/v1/training/code/"),
        (alice, "/theme/"),
        (alice, "/training/new/"),
        (Client(), "/accounts/login/"),
    ):
        answer: Any = client.generic("POST", path, body, content_type=kind)
        assert answer.status_code < 500, f"{path} {kind}: {answer.status_code}"
        if path.startswith("/api/"):
            assert (answer.status_code >= 400, answer.headers["Content-Type"]) == (True, PROBLEM), path
