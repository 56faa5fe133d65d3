"""Every list of the API, with cursors that it did not give."""

import base64
from typing import Any

import pytest
from django.core import signing
from rest_framework.mixins import ListModelMixin

from tests.architecture.routes import Route, own_routes
from tests.architecture.scene import Scene, scene, standing_scene
from tests.searching import some

__all__ = ["scene", "standing_scene"]  # the fixtures


def unsigned(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


TAMPERED = [
    "",
    "x",
    "cD1OYU4=",
    unsigned("p=x"),
    unsigned("p=\0"),
    unsigned("p=2026-99-99"),
    unsigned("p=2026-01-01T00:00:00Z"),
    unsigned("r=x&o=-1"),
    "\0",
    "\udcff".encode("utf-8", "surrogatepass").decode("latin-1"),
    "汉字",
    "a:b:c",
    signing.dumps([0, False, "NaN"], salt="cursor:another.list"),
    signing.dumps("text", salt="x"),
    "A" * 10_000,
]


def is_list(route: Route) -> bool:
    cls = getattr(route.view, "cls", None)
    return cls is not None and issubclass(cls, ListModelMixin) and cls.pagination_class is not None


@pytest.fixture
def lists() -> list[Route]:
    return [route for route in own_routes() if route.path.startswith("/api/") and is_list(route)]


@pytest.mark.sweep
def test_no_list_takes_a_cursor_that_it_did_not_give(scene: Scene, lists: list[Route]) -> None:
    """And each goes on from its own, whatever has been deleted in between."""
    assert len(lists) > 40
    reached = 0
    for route in some(lists):
        url = route.url(scene.values)
        who = "staff" if "/console/" in url else "owner"
        query = {"from": 1, "to": 1} if route.path.endswith("/compare/") else {}
        if scene.clients[who].get(url, query).status_code != 200:
            continue
        reached += 1
        for cursor in TAMPERED:
            answer = scene.clients[who].get(url, {**query, "cursor": cursor})
            assert answer.status_code == 400, f"{route.path} {cursor[:40]!r}: {answer.status_code}"
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert answer.json()["code"]
        _follow(scene.clients[who], url, {**query, "page_size": 1})
    assert reached >= len(some(range(36))), reached


def _follow(client: Any, url: str, query: dict[str, Any]) -> None:
    page = client.get(url, query)
    for _turn in range(3):
        link = page.json()["next"]
        if link is None:
            return
        page = client.get(link)
        assert page.status_code == 200, link


def test_a_cursor_is_good_for_its_own_list_only(scene: Scene, lists: list[Route]) -> None:
    """Two lists of the same order: the position would fit, what it skips would not be what was seen."""
    given: dict[str, str] = {}
    for route in lists:
        url = route.url(scene.values)
        if "/console/" not in url:
            link = (scene.clients["owner"].get(url, {"page_size": 1}).json() or {}).get("next")
            if link:
                given[url] = link.partition("cursor=")[2].partition("&")[0]
    assert len(given) >= 2, given
    for url in given:
        for other, cursor in given.items():
            expected = 200 if other == url else 400
            assert scene.clients["owner"].get(f"{url}?page_size=1&cursor={cursor}").status_code == expected
