"""What a page draws anew under a person's hand: it works as soon as it is seen, and a press on it is not lost."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser

ROW = """number => { document.querySelector("main").innerHTML =
  `<form action="/rows/${number}" method="get"><button class="btn">Delete</button></form>` }"""
COUNT = """() => { window.sent = 0;
  addEventListener("submit", event => { window.sent++; event.preventDefault() }, true) }"""


def press(page: Page, button: str = "main button") -> None:
    box = page.locator(button).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()


def test_a_press_whose_button_is_replaced_by_its_like_is_one_click(visit: Visit) -> None:
    page = visit()
    page.goto("/account/")
    page.evaluate(COUNT)
    page.evaluate(ROW, 2)
    press(page)
    page.evaluate(ROW, 2)
    page.mouse.up()
    assert page.evaluate("window.sent") == 1
    press(page)
    page.evaluate(ROW, 3)
    page.mouse.up()
    assert page.evaluate("window.sent") == 1, "the row below came to where it was"
    press(page)
    page.mouse.up()
    assert page.evaluate("window.sent") == 2


def test_a_quote_that_comes_during_the_press_does_not_swallow_it(visit: Visit) -> None:
    page = visit()
    page.goto("/training/new/?example=1")
    page.fill("[name=name]", "pressed long")
    start = "#quote button[type=submit]:visible"
    old = page.locator(start).element_handle()
    press(page, start)
    page.wait_for_function("old => !old.isConnected", arg=old)
    page.mouse.up()
    page.wait_for_url(re.compile(r"/training/[0-9a-f-]{36}/"))


def test_what_has_come_works_at_once(visit: Visit) -> None:
    page = visit()
    page.goto("/account/")
    asks = page.evaluate(
        """() => { let asks = false;
        htmx.swap("main", '<button id="come" hx-get="/account/">Again</button>',
          { swapStyle: "innerHTML", swapDelay: 0, settleDelay: htmx.config.defaultSettleDelay });
        const come = document.getElementById("come");
        come.addEventListener("htmx:configRequest", event => { asks = true; event.preventDefault() });
        come.click();
        return asks }"""
    )
    assert asks


def test_a_page_that_loads_itself_anew_does_not_take_back_a_link(visit: Visit) -> None:
    page, held, asked = visit(), list[Route](), list[Route]()

    def anew(route: Route) -> None:
        route.fulfill(status=204, headers={"HX-Refresh": "true"})
        asked.append(route)

    page.route("**/anew/", anew)
    page.route("**/secrets/", lambda route: held.append(route))
    page.goto("/account/")
    page.evaluate(
        """() => { document.querySelector('a[href="/secrets/"]').click();
        setTimeout(() => htmx.ajax("GET", "/anew/", { target: "body", swap: "none" }), 200) }"""
    )  # nothing can be evaluated from here on: the next page is on its way
    while not (held and asked):
        page.wait_for_timeout(50)
    page.wait_for_timeout(300)  # in which it would have left for where it is
    held[0].continue_()
    page.wait_for_url("**/secrets/")


def test_a_menu_that_opens_while_its_part_is_fetched_stays_open(visit: Visit) -> None:
    """What was fetched for it is left; it is fetched again, and shown, once the menu is closed."""
    page, held = visit(), list[Route]()
    page.route("**/part/", lambda route: held.append(route))
    page.goto("/account/")
    page.evaluate(
        """() => { window.answers = 0;
        addEventListener("htmx:afterRequest", event => { if (event.detail.elt.id === "part") window.answers++ });
        document.querySelector("main").innerHTML = `<div id="part" hx-get="/part/" hx-trigger="pl:refresh"
          hx-swap="outerHTML">old <div class="dropdown-menu">Stop</div></div>`;
        htmx.process(document.getElementById("part"));
        htmx.trigger("#part", "pl:refresh") }"""
    )
    _answered(page, held, 1, before="document.querySelector('#part .dropdown-menu').classList.add('show')")
    page.wait_for_function("window.answers === 1")
    assert page.locator("#part .dropdown-menu.show").count() == 1
    page.evaluate("document.querySelector('#part .dropdown-menu').classList.remove('show')")
    _answered(page, held, 2)
    expect(page.locator("#part")).to_have_text("new")


def _answered(page: Page, held: list[Route], number: int, before: str = "") -> None:
    """The request of this number has come; then `before`, and its answer."""
    while len(held) < number:
        page.wait_for_timeout(50)
    if before:
        page.evaluate(before)
    held[number - 1].fulfill(status=200, content_type="text/html", body='<div id="part">new</div>')
