"""Every form of every page, filled in as no person would: refused or taken, never a 5xx."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from tests.architecture.routes import THIRD_PARTY, Route, routes
from tests.architecture.scene import Scene, scene, standing_scene
from tests.searching import some

__all__ = ["scene", "standing_scene"]  # the fixtures

NASTY = [
    "",
    " ",
    "0",
    "-1",
    "1e999",
    "NaN",
    "9" * 30,
    "1_000",
    "１００",
    "1,5",
    "²",
    "true",
    "[]",
    '{"a": 1}',
    "null",
    "%s",
    "%00",
    "{{ 7*7 }}",
    "../../etc/passwd",
    "/",
    "//evil.example",
    "javascript:alert(1)",
    "http://[",
    "a" * 3000,
    "汉" * 300,
    "😀",
    "\u202eabc",
    "\u200b",
    "a\0b",
    "\x1b[0m",
    "\r\nX: y",
    "'\"><script>",
    "2026-02-30",
    "0001-01-01",
    "9999-12-31",
    "10000-01-01",
    "25:99",
    "00000000-0000-0000-0000-000000000000",
    "2147483648",
    "9223372036854775808",
    "-0.00",
    "1" + "0" * 400,
]
LEFT_ALONE = {"csrfmiddlewaretoken"}
# What a button or a script sends, where no form in the page shows it.
USUAL = (
    "name",
    "note",
    "reason",
    "amount",
    "q",
    "next",
    "path",
    "at",
    "paths",
    "text",
    "action",
    "kind",
    "since",
    "key",
)
EACH = 2


class Forms(HTMLParser):
    """The fields of each form by its action, and those of the page's address for forms without one."""

    def __init__(self, here: str) -> None:
        super().__init__()
        self.here, self.action = here, ""
        self.found: dict[str, set[str]] = {}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "form":
            self.action = urlsplit(given.get("action") or self.here).path
        name = given.get("name")
        if tag in ("input", "select", "textarea", "button") and name:
            self.found.setdefault(self.action or self.here, set()).add(name)


def page_routes() -> list[Route]:
    left_out = re.compile(r"^/(api|static|open|i18n|accounts/(?!login|signup|password))")
    return [
        each for each in routes() if not left_out.match(each.path) or each.name in THIRD_PARTY - {"schema", "api-docs"}
    ]


def addresses(scene: Scene) -> Iterator[str]:
    for route in page_routes():
        try:
            url = route.url(scene.values)
        except KeyError:
            continue
        if not url.startswith(("/api/", "/accounts/logout")):
            yield url


def ask(client: Client, method: str, url: str, data: Any = None) -> Any:
    """The answer; what it changed is undone, so that the next form meets the same world."""
    cookies = client.cookies.copy()
    with transaction.atomic():
        answer = getattr(client, method)(url, data)
        transaction.set_rollback(True)
    client.cookies = cookies
    return answer


def fields_of(client: Client, urls: list[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for url in urls:
        answer = ask(client, "get", url)
        assert answer.status_code < 500, f"GET {url}"
        if not answer.streaming and "html" in answer.headers.get("Content-Type", ""):
            parser = Forms(url)
            parser.feed(answer.content.decode(errors="replace"))
            for action, names in parser.found.items():
                found.setdefault(action, set()).update(names)
    return found


def filled(random: Random, names: set[str]) -> dict[str, Any]:
    """A nasty value in each field, in some of them two or a file."""
    data: dict[str, Any] = {}
    for name in sorted(names - LEFT_ALONE):
        kind = random.random()
        if kind < 0.05:
            data[name] = SimpleUploadedFile("a\u202e.txt", b"\0\xff" * 10)
        elif kind < 0.12:
            data[name] = [random.choice(NASTY), random.choice(NASTY)]
        elif kind < 0.9:
            data[name] = random.choice(NASTY)
    return data


@pytest.mark.sweep
@pytest.mark.parametrize("who", ["owner", "staff"])
def test_no_form_breaks_a_page(scene: Scene, who: str) -> None:
    client, random = scene.clients[who], Random(14)
    client.raise_request_exception = False
    urls = sorted(set(addresses(scene)))
    shown = fields_of(client, list(some(urls)))
    sent = refused = 0
    broken: list[str] = []
    for url in some(sorted({*urls, *shown})):
        for _time in range(EACH):
            data = filled(random, shown.get(url) or set(USUAL))
            answer = ask(client, "post", url, data)
            if answer.status_code >= 500:
                broken.append(f"POST {url} {data!r}: {getattr(answer, 'exc_info', '')!r}"[:1500])
            sent, refused = sent + 1, refused + (400 <= answer.status_code < 500)
            if answer.status_code == 405:
                break
        query = {
            name: random.choice(NASTY) for name in random.sample(("q", "page", "sort", "since", "until", "next"), 3)
        }
        answer = ask(client, "get", url, query)
        if answer.status_code >= 500:
            broken.append(f"GET {url} {query!r}: {getattr(answer, 'exc_info', '')!r}"[:1500])
    assert broken == []
    assert sent > 15
    assert refused > sent / 10
