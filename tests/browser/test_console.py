"""The platform's staff in a browser: hardware that does not exist, a freeze, a mail server, a name, and a refusal."""

import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_account import submit
from tests.browser.test_journey import Shoot, fill_example, run_id_of
from tests.ports import free_port
from tests.stack import Api, Stack, wait_for

pytestmark = pytest.mark.browser

SLICE = "A100-80G MIG 1g.10gb"
RUN_TIMEOUT_S = 300
ADDRESS = "admin@lab.example"
SIM = ".pl-sim"
FROZEN = {"en": "frozen", "zh": "冻结"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_slice_of_a_card_that_does_not_exist(visit: Visit, stack: Stack, shoot: Shoot, language: str) -> None:
    page = visit(language)
    zone = add_simulated_zone(page, shoot, language)
    page.goto("/console/nodes/")
    expect(page.locator(f"#nodes tr {SIM}")).to_have_count(4)
    shoot(page, f"simulated-nodes-{language}")
    run = submit_on_a_slice(page, f"slice {language}", shoot, language)
    api = Api(stack).sign_in()
    wait_for(lambda: state(api, run) == "running", RUN_TIMEOUT_S)
    the_slice_is_taken(page, zone, f"slice {language}", shoot, language)
    remove_zone(page, api, zone, run, shoot, language)


def state(api: Api, run: str) -> str:
    status: str = api.get(f"/training/runs/{run}/")["status"]
    assert status not in {"failed", "succeeded"}, status
    return status


def add_simulated_zone(page: Page, shoot: Shoot, language: str) -> str:
    """One click for the machines, one for their packages; there is no second such zone."""
    page.goto("/console/zones/")
    add = page.locator("form[action='/console/zones/simulated/'] button")
    with page.expect_navigation():
        add.click()
    zone = page.url
    expect(page.locator(f"main h1 + {SIM}")).to_be_visible()
    with page.expect_navigation():
        page.locator("form[action$='/offer/'] button").click()
    shoot(page, f"simulated-zone-{language}")
    page.goto("/console/zones/")
    expect(add).to_have_count(0)
    return zone


def submit_on_a_slice(page: Page, name: str, shoot: Shoot, language: str) -> str:
    """The run's id. Its package, its quote and its page say that the hardware is simulated."""
    fill_example(page, name)
    page.locator("[name=arguments_value]").first.fill("5000")
    expect(page.locator(f"#quote {SIM}")).to_have_count(0)
    row = page.locator("#packages tr", has_text=SLICE)
    expect(row.locator(SIM)).to_be_visible()
    row.locator("input[name=package]").check()
    expect(page.locator(f"#quote {SIM}")).to_be_visible()
    shoot(page, f"simulated-quote-{language}")
    page.locator("#quote button[type=submit]:visible").click()
    page.wait_for_url(re.compile(r"/training/[0-9a-f-]{36}/"))
    expect(page.locator(f"#run-header {SIM}")).to_be_visible()
    return run_id_of(page)


def the_slice_is_taken(page: Page, zone: str, name: str, shoot: Shoot, language: str) -> None:
    page.goto(f"/console/accelerators/?zone={zone.rstrip('/').rpartition('/')[2]}")
    taken = page.locator("#cards .pl-slice.is-run")
    expect(taken).to_have_count(1)
    expect(taken).to_contain_text("1g")
    page.locator("#cards a.pl-dev", has=page.locator(".pl-slice.is-run")).click()
    panel = page.locator("#card-panel")
    expect(panel.locator("a[href^='/console/workloads/']")).to_have_text(name)
    expect(panel).to_contain_text("1g.10gb")
    expect(panel.locator(SIM)).to_be_visible()
    expect(panel.locator("form button[type=submit]")).to_be_disabled()  # its mode cannot be switched below the run
    shoot(page, f"simulated-slice-{language}")


def remove_zone(page: Page, api: Api, zone: str, run: str, shoot: Shoot, language: str) -> None:
    """Not while work is on it."""
    page.goto(zone)
    expect(page.locator("button[data-dialog=remove]")).to_be_disabled()
    confirm(page, "stop")
    wait_for(lambda: state(api, run) == "stopped", RUN_TIMEOUT_S)
    page.goto(zone)
    confirm(page, "remove")
    expect(page.locator(f"main {SIM}")).to_have_count(0)
    shoot(page, f"zones-after-{language}")
    page.goto("/training/new/?example=1")
    expect(page.locator(f"#packages {SIM}")).to_have_count(0)


def confirm(page: Page, dialog: str) -> None:
    page.locator(f"button[data-dialog={dialog}]").click()
    with page.expect_navigation():
        page.locator(f"#{dialog} button[type=submit]").click()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_frozen_organisation_reads_and_starts_nothing(visit: Visit, shoot: Shoot, language: str) -> None:
    page = visit(language)
    page.goto("/console/organisations/")
    with page.expect_navigation():
        page.locator("#organisations tbody a.pl-name", has_text="Lab").first.click()
    organisation = page.url
    confirm(page, "freeze")
    shoot(page, f"frozen-{language}")
    try:
        assert page.goto("/training/").status == 200  # type: ignore[union-attr]
        assert page.goto("/training/new/?example=1").status == 403  # type: ignore[union-attr]
        expect(page.locator("main")).to_contain_text(FROZEN[language])
        shoot(page, f"frozen-start-{language}")
    finally:
        page.goto(organisation)
        confirm(page, "unfreeze")
    fill_example(page, f"thawed {language}")
    expect(page.locator("#quote button[type=submit]:visible")).to_be_enabled()


class _Mailbox(socketserver.StreamRequestHandler):
    """As much of RFC 5321 as a client needs to hand over one mail."""

    def handle(self) -> None:
        self.say("220 loopback")
        while line := self.rfile.readline():
            verb = line[:4].upper()
            if verb == b"DATA":
                self.say("354 go on")
                self.server.mails.append(self.mail())  # type: ignore[attr-defined]
            self.say("221 bye" if verb == b"QUIT" else "250 loopback")
            if verb == b"QUIT":
                return

    def say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())

    def mail(self) -> str:
        return b"".join(iter(self.rfile.readline, b".\r\n")).decode()


@contextmanager
def mail_server() -> Iterator[tuple[int, list[str]]]:
    """Its port on the loopback, and what it was given."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Mailbox) as server:
        server.daemon_threads = True
        mails: list[str] = []
        server.mails = mails  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], mails
        server.shutdown()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_mail_server_is_tried_before_it_is_relied_on(visit: Visit, shoot: Shoot, language: str) -> None:
    page = visit(language)
    with address_of_ones_own(page), mail_server() as (port, mails):
        describe_server(page, free_port())
        page.fill("#id_mail-username", "mailer")
        page.fill("#id_mail-password", "in the open")
        try_it(page)  # a password without encryption
        expect(page.locator("#field-id_mail-security .pl-error")).to_be_visible()
        page.fill("#id_mail-username", "")
        page.fill("#id_mail-password", "")
        try_it(page)  # nobody listens there
        expect(page.locator(".pl-note.is-fail[role=alert]")).to_be_visible()
        assert page.input_value("#id_mail-host") == "127.0.0.1"
        shoot(page, f"mail-refused-{language}")
        page.fill("#id_mail-port", str(port))
        try_it(page)
        expect(page.locator(".pl-note.is-run")).to_contain_text(ADDRESS)
        shoot(page, f"mail-tried-{language}")
        assert len(mails) == 1
        assert f"To: {ADDRESS}" in mails[0]
        page.goto("/console/settings/notifications/")
        assert page.input_value("#id_mail-host") == ""  # trying saved nothing


def describe_server(page: Page, port: int) -> None:
    page.goto("/console/settings/notifications/")
    page.fill("#id_mail-host", "127.0.0.1")
    page.fill("#id_mail-port", str(port))
    page.select_option("#id_mail-security", "none")
    page.fill("#id_mail-from_address", "plstack@lab.example")


def try_it(page: Page) -> None:
    with page.expect_navigation():
        page.locator("form:has([name=which][value=mail]) button[name=try]").click()


@contextmanager
def address_of_ones_own(page: Page) -> Iterator[None]:
    page.goto("/account/")
    before = page.input_value("#id_email")
    _change_address(page, ADDRESS)
    try:
        yield
    finally:
        _change_address(page, before)


def _change_address(page: Page, address: str) -> None:
    page.goto("/account/")
    page.fill("#id_email", address)
    submit(page)


def test_the_name_that_the_platform_goes_by(visit: Visit, shoot: Shoot) -> None:
    page = visit("zh")
    page.goto("/console/settings/branding/")
    page.fill("#id_portal_name", "x" * 200)
    submit(page)
    expect(page.locator("#id_portal_name")).to_be_visible()
    name_portal(page, "深算平台")
    try:
        page.goto("/")
        expect(page.locator(".pl-brand").first).to_contain_text("深算平台")
        stranger = visit("zh", signed_in=False)
        stranger.goto("/accounts/login/")
        expect(stranger.locator(".pl-brand").first).to_contain_text("深算平台")
        shoot(stranger, "branding-signin")
    finally:
        name_portal(page, "")
    page.goto("/")
    expect(page.locator(".pl-brand").first).to_contain_text("PLStack")


def name_portal(page: Page, name: str) -> None:
    page.goto("/console/settings/branding/")
    page.fill("#id_portal_name", name)
    submit(page)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_webhook_to_a_private_address_is_refused_in_words(visit: Visit, shoot: Shoot, language: str) -> None:
    page = visit(language)
    for url in ("http://127.0.0.1/hook", "https://10.1.2.3/hook", "https://[::1]/hook", "http://169.254.169.254/"):
        page.goto("/webhooks/new/")
        page.fill("#id_name", "inside")
        page.fill("#id_url", url)
        submit(page)
        expect(page.locator("#field-id_url .pl-error")).to_be_visible()
        assert page.input_value("#id_url") == url
    shoot(page, f"webhook-refused-{language}")
    page.goto("/webhooks/")
    expect(page.locator("main table")).to_have_count(0)
