"""A real Chromium on a real copy of the platform. With PLSTACK_SHOTS=folder the journeys leave their pictures there."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from tests.stack import ADMIN, PASSWORD, Stack, running

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DESK = {"width": 1366, "height": 768}
PHONE = {"width": 390, "height": 844}
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

# What ends in a failure is waited for as long as a busy machine may need: longer than Playwright's own five seconds.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)

Visit = Callable[..., Page]


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    with running() as copy:
        yield copy


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip("no Chromium; on Debian: apt-get install chromium fonts-noto-cjk")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser, stack: Stack) -> Iterator[Visit]:
    """`visit(language, theme=, phone=, signed_in=, zone=)`: a page of a new person; script errors fail the test."""
    contexts: list[BrowserContext] = []
    troubles: list[str] = []

    def open_page(
        language: str = "en",
        *,
        theme: str = "light",
        phone: bool = False,
        signed_in: bool = True,
        zone: str = "Asia/Shanghai",
    ) -> Page:
        context = browser.new_context(
            locale={"en": "en-US", "zh": "zh-CN"}[language],
            viewport=PHONE if phone else DESK,
            color_scheme="dark" if theme == "dark" else "light",
            timezone_id=zone,
            base_url=stack.url,
            accept_downloads=True,
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(f"{page.url}: {error}"))
        page.on("console", lambda message: _note(message, troubles))
        if signed_in:
            sign_in(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


# An answer of 4xx is the test's own matter; leaving a page cuts off what it was still asking for, and a question
# that a newer one replaces is taken back.
OF_NO_ACCOUNT = ("Failed to load resource", "WebSocket", "htmx:sendError", "htmx:sendAbort", "htmx:afterRequest")


def _note(message: ConsoleMessage, troubles: list[str]) -> None:
    """Scripts that fail and content that the policy refuses."""
    if message.type == "error" and not any(each in message.text for each in OF_NO_ACCOUNT):
        troubles.append(message.text)


def sign_in(page: Page, username: str = ADMIN, password: str = PASSWORD) -> None:
    page.goto("/accounts/login/")
    page.fill("[name=login]", username)
    page.fill("[name=password]", password)
    with page.expect_navigation():  # else the next address would be asked for before there is a session
        page.locator("form button[type=submit].btn-primary").click()
    assert "/accounts/login/" not in page.url


@pytest.fixture
def shoot() -> Callable[[Page, str], None]:
    """Keep a picture of the page, where pictures are wanted."""
    folder = os.environ.get("PLSTACK_SHOTS")

    def take(page: Page, name: str) -> None:
        if folder:
            page.wait_for_timeout(600)
            page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)

    return take
