"""The wheel of a mouse, on a page that may be slow."""

from contextlib import suppress

from playwright.sync_api import Page, TimeoutError

COUNT_WHEELS = """() => { window.wheels = 0;
  addEventListener("wheel", () => window.wheels++, { capture: true, passive: true }) }"""


def turn_up(page: Page) -> None:
    """Turn the wheel until the page has heard of it: where frames are slow, the browser may let it fall."""
    page.evaluate(COUNT_WHEELS)
    while not page.evaluate("() => window.wheels"):
        page.mouse.wheel(0, -400)
        with suppress(TimeoutError):
            page.wait_for_function("() => window.wheels", timeout=5_000)


def wait_at_rest(page: Page, box: str) -> None:
    """Until what a wheel has begun in the box is over."""
    top = f"document.querySelector('{box}').scrollTop"
    before = None
    while (now := page.evaluate(top)) != before:
        before = now
        page.wait_for_timeout(300)
