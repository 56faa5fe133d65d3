"""Every page in both languages and themes, on a desk and a phone: it shows, fits, and breaks no policy."""

import re

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Visit
from tests.browser.test_journey import Shoot

pytestmark = pytest.mark.browser

PAGES = {
    "overview": "/",
    "training": "/training/",
    "new": "/training/new/?example=1",
    "wallet": "/billing/wallet/",
    "consumption": "/billing/consumption/",
    "account": "/account/",
    "images": "/images/",
    "recipe": "/images/recipes/spark-4-3/",
    "environment": "/environments/new/",
    "build": "/builds/new/?recipe=spark-4-3",
    "notifications": "/notifications/",
    "console": "/console/",
    "organisations": "/console/organisations/",
    "workloads": "/console/workloads/",
    "nodes": "/console/nodes/",
    "packages": "/console/packages/",
    "recharges": "/console/recharges/",
    "console-consumption": "/console/consumption/",
    "audit": "/console/audit/",
}
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def too_wide(page: Page) -> int:
    """Pixels by which the page scrolls sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def speaks(page: Page, language: str) -> bool:
    """Chinese pages hold Chinese; English ones may quote it (a package has a name in each), but not as their title."""
    if language == "zh":
        return CHINESE.search(page.locator("main").inner_text()) is not None
    return CHINESE.search(page.locator("h1").first.inner_text()) is None


@pytest.mark.parametrize(
    ("language", "theme", "phone"),
    [("en", "light", False), ("zh", "light", False), ("zh", "dark", False), ("en", "dark", True)],
)
def test_every_page_shows_and_fits(visit: Visit, shoot: Shoot, language: str, theme: str, phone: bool) -> None:
    page = visit(language, theme=theme, phone=phone)
    wrong = []
    for name, path in PAGES.items():
        response = page.goto(path)
        assert response is not None
        if response.status != 200:
            wrong.append(f"{path}: {response.status}")
            continue
        if too_wide(page) > 0:
            wrong.append(f"{path}: {too_wide(page)} px too wide")
        if not speaks(page, language):
            wrong.append(f"{path}: the page is not in {language}")
        shoot(page, f"page-{name}-{language}-{theme}{'-phone' if phone else ''}")
    assert wrong == []


def test_on_a_phone_the_row_of_tabs_shows_the_current_one(visit: Visit) -> None:
    page = visit("en", phone=True)
    page.goto("/console/settings/branding/")
    tab = page.locator(".nav-tabs .active")
    page.wait_for_function("() => document.querySelector('.nav-tabs').scrollLeft > 0")
    box, row = tab.bounding_box(), page.locator(".nav-tabs").bounding_box()
    assert box is not None
    assert row is not None
    assert row["x"] <= box["x"] + 1  # positions of scrolling are whole pixels
    assert box["x"] + box["width"] <= row["x"] + row["width"] + 1
    assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize("phone", [False, True])
def test_what_lies_under_a_message_can_be_scrolled_free(visit: Visit, phone: bool) -> None:
    """A failure stays until it is closed: the last card of a page, a preemption's for one, must not be under it."""
    page = visit("en", phone=phone)
    page.goto("/console/")
    last = page.evaluate(
        """() => {
            const card = document.createElement("div");
            card.className = "card";
            card.style.height = "1500px";
            document.querySelector("main").append(card);
            const detail = { text: "A sentence that takes more than one line of the message", tone: "fail" };
            document.dispatchEvent(new CustomEvent("pl:toast", { detail }));
            window.scrollTo({ top: 1e6, behavior: "instant" });
            const message = document.querySelector(".pl-toast").getBoundingClientRect();
            return { card: card.getBoundingClientRect().bottom, message: message.top };
        }"""
    )
    assert last["card"] <= last["message"]
