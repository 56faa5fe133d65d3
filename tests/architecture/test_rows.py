"""Each row that opens on a click is also reached by Tab, a middle click and a screen reader: it holds a real link."""

from html.parser import HTMLParser
from typing import Any

import pytest

from apps.common.access import Realm
from apps.common.scoping import acting
from tests.architecture.routes import own_routes
from tests.architecture.scene import Scene, scene, standing_scene
from tests.architecture.test_access import declared
from tests.builders import platform
from tests.searching import some

__all__ = ["scene", "standing_scene"]  # the fixtures


class Rows(HTMLParser):
    """`opening`: of each row that opens on a click its address and those of the links in it."""

    def __init__(self) -> None:
        super().__init__()
        self.opening: list[tuple[str, set[str]]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "tr":
            self.inside = "data-href" in found
            if self.inside:
                self.opening.append((found["data-href"] or "", set()))
        elif tag == "a" and self.inside and found.get("tabindex") != "-1":
            self.opening[-1][1].add(found.get("href") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "tr":
            self.inside = False


def rows_of(html: str) -> list[tuple[str, set[str]]]:
    parser = Rows()
    parser.feed(html)
    return parser.opening


def pages_of(scene: Scene) -> dict[str, str]:
    """What the owner and the staff read on every page that can be asked for without an act."""
    pages = {}
    with acting(platform()):
        routes = [
            (route, route.url(scene.values))
            for route in own_routes()
            if not route.path.startswith("/api/")
            and any(access.realm is not Realm.PUBLIC for access in declared(route.access))
        ]
    for route, url in some(routes):
        for who in ("owner", "staff"):
            response: Any = scene.clients[who].get(url)
            if response.status_code == 200 and "html" in response.headers["Content-Type"]:
                pages[f"{who} {route.name}"] = response.content.decode()
    return pages


@pytest.mark.sweep
def test_a_row_that_opens_on_a_click_holds_a_link_to_the_same_page(scene: Scene) -> None:
    silent, seen = {}, set()
    for page, html in pages_of(scene).items():
        for href, links in rows_of(html):
            seen.add(page)
            if href not in links:
                silent[page] = (href, links)
    assert silent == {}
    assert len(seen) >= len(some(range(20))), "the sweep sees too few lists to prove anything"


def test_the_sweep_sees_a_row_without_a_link() -> None:
    assert rows_of('<tr data-href="/x/"><td>a</td></tr><a href="/x/">b</a>') == [("/x/", set())]
