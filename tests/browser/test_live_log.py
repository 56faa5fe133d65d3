"""The log of a run that goes on: followed until one scrolls up, and again when asked to, across a broken connection."""

import re

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.conftest import Visit
from tests.browser.test_log import AT_END, NOT_AT_END, shown, submitted
from tests.browser.wheel import turn_up, wait_at_rest
from tests.stack import Api, Stack, wait_for

pytestmark = pytest.mark.browser

# Until it is stopped, however late somebody looks.
LIVE = """
import itertools, time
print("begins")
for n in itertools.count():
    print("tick", "abcdefghij"[n % 10], n, flush=True)
    time.sleep(0.05)
"""
# A machine on which lines arrive between any two frames.
SLOW_FRAMES = """() => { window.slowFrames = true;
  const slow = () => { const end = performance.now() + 150; while (performance.now() < end);
    if (window.slowFrames) requestAnimationFrame(slow) }; slow() }"""
HEIGHT = "document.querySelector('.pl-log .cm-scroller').scrollHeight"


def ticks(page: Page) -> list[int]:
    """Those that are drawn whole: of the last one there may be the beginning."""
    return [int(found[1]) for line in shown(page) if (found := re.fullmatch(r"tick [a-j] (\d+)", line))]


def newest_tick(page: Page) -> int:
    return max(ticks(page), default=-1)


def test_a_log_is_followed_from_its_beginning_until_one_scrolls_up(visit: Visit, stack: Stack) -> None:
    page = visit("en")
    sockets: list[WebSocketRoute] = []

    def pass_on(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        socket.connect_to_server()

    page.route_web_socket("**/ws/logs/**", pass_on)
    run = submitted(stack, "live log", LIVE)
    page.goto(f"/training/{run}/?tab=log")
    # The program is heard before the platform says that it runs, and then the pane is drawn anew and follows again.
    expect(page.locator("#run-header")).to_contain_text("Running", timeout=120_000)
    expect(page.locator(".pl-log .cm-content")).to_contain_text("tick ")
    before = wait_for(lambda: newest_tick(page) + 1, 60)
    wait_for(lambda: newest_tick(page) > before + 60, 60)
    page.wait_for_function(AT_END)

    page.locator(".pl-log .cm-scroller").hover()
    page.evaluate(SLOW_FRAMES)
    turn_up(page)
    expect(page.locator("[data-log-follow]")).to_have_attribute("aria-pressed", "false")
    page.evaluate("window.slowFrames = false")
    page.wait_for_function(NOT_AT_END)
    wait_at_rest(page, ".pl-log .cm-scroller")
    first = shown(page)[1]  # the first that is whole
    page.wait_for_function(f"old => {HEIGHT} > old + 600", arg=page.evaluate(HEIGHT))
    assert shown(page)[1] == first

    page.locator("[data-log-follow]").click()
    page.wait_for_function(AT_END)
    before, opened = newest_tick(page), len(sockets)
    sockets[-1].close(code=1011)
    wait_for(lambda: newest_tick(page) > before + 60, 60)
    assert len(sockets) > opened
    found = ticks(page)
    assert found == list(range(found[0], found[0] + len(found)))
    page.locator(".pl-log .cm-content").press("PageUp")
    expect(page.locator("[data-log-follow]")).to_have_attribute("aria-pressed", "false")
    Api(stack).sign_in().post(f"/training/runs/{run}/stop/")
