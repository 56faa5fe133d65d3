"""A finance clerk's morning in a browser: payments, a second person, a voucher, a price, a month and a file."""

import csv
import io
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit, sign_in
from tests.browser.test_account import submit
from tests.browser.test_journey import Shoot
from tests.stack import Stack

pytestmark = pytest.mark.browser

ORGANISATION = "Lab"
CHOSEN = "a-quiet-harbour-9"
ZONE = ZoneInfo("Asia/Shanghai")
FILE_TIMEOUT_MS = 60_000


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_finance_clerks_morning(visit: Visit, stack: Stack, shoot: Shoot, language: str) -> None:
    root = visit(language)
    clerk = signed_in_clerk(visit, root, f"clerk-{language}", language)
    the_first_page_agrees_with_the_ledger(clerk, shoot, language)
    a_payment_is_credited_once(clerk, shoot, f"SLIP-{language}", language)
    a_large_one_needs_the_second_person(clerk, root, shoot, f"LARGE-{language}", language)
    a_voucher_and_a_price(clerk, shoot, language)
    the_months_drafts_are_there(clerk, shoot, language)
    a_file_states_the_sums(clerk, shoot, f"SLIP-{language}", language)
    nothing_else_opens(clerk)


def signed_in_clerk(visit: Visit, root: Page, name: str, language: str) -> Page:
    """A new account among the finance staff, made by the admin. The password that was shown once opens only the page
    that replaces it."""
    root.goto("/console/staff/new/")
    root.fill("#id_username", name)
    root.fill("#id_email", f"{name}@lab.example")
    root.select_option("#id_role", "finance")
    submit(root)
    password = root.locator("main .pl-code", has_not_text=name).first.inner_text().strip()
    page = visit(language, signed_in=False)
    sign_in(page, name, password)
    page.goto("/console/finance/")
    page.fill("#id_oldpassword", password)
    page.fill("#id_password1", CHOSEN)
    page.fill("#id_password2", CHOSEN)
    submit(page)
    return page


def the_first_page_agrees_with_the_ledger(page: Page, shoot: Shoot, language: str) -> None:
    page.goto("/console/finance/")
    expect(page.locator("#figures .pl-strip")).to_be_visible()
    agreed = page.locator("aside .card-footer")
    expect(agreed).to_contain_text({"en": "agree to the fen", "zh": "逐分一致"}[language])
    shoot(page, f"finance-{language}")


def fill_organisation(page: Page, name: str) -> None:
    """Until the suggestions are there: a page that is left while they are on their way complains."""
    with page.expect_response(lambda answer: "/suggestions/" in answer.url):
        page.fill("#id_organisation", name)


def recharge(page: Page, amount: str, reference: str) -> None:
    """Both steps of it."""
    page.goto("/console/recharges/new/")
    fill_organisation(page, ORGANISATION)
    page.fill("#id_amount", amount)
    page.fill("#id_reference", reference)
    page.fill("#id_payer", "East Institute")
    submit(page)
    slip = {"name": "slip.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7 a slip"}
    page.set_input_files("input[name=proofs]", [slip])
    with page.expect_navigation():
        page.locator("#confirm button[type=submit]").click()


def a_payment_is_credited_once(page: Page, shoot: Shoot, reference: str, language: str) -> None:
    recharge(page, "4,000.00", reference)
    shoot(page, f"recharged-{language}")
    page.goto("/console/recharges/")
    expect(page.locator("main table tbody tr", has_text=reference)).to_have_count(1)
    page.goto("/console/recharges/new/")
    fill_organisation(page, "nobody at all")
    page.fill("#id_amount", "1,5")
    submit(page)
    for field in ("organisation", "amount", "reference"):
        expect(page.locator(f"#field-id_{field} .pl-error")).to_be_visible()


def a_large_one_needs_the_second_person(page: Page, root: Page, shoot: Shoot, reference: str, language: str) -> None:
    recharge(page, "20,000.00", reference)
    asked = page.url
    approve = "button[hx-get$='/approve/']"
    expect(page.locator(approve)).to_have_count(0)  # nobody approves what they asked for
    shoot(page, f"recharge-asked-{language}")
    root.goto(asked)
    root.locator(approve).click()
    confirm = root.locator("#pl-dialog form button[type=submit]")
    expect(confirm).to_be_visible()
    with root.expect_navigation():
        confirm.click()
    shoot(root, f"recharge-approved-{language}")
    page.goto("/console/recharges/")
    expect(page.locator("main table tbody tr", has_text=reference)).to_have_count(1)
    page.goto(asked)
    expect(page.locator("main")).to_contain_text({"en": "Approved", "zh": "已批准"}[language])


def a_voucher_and_a_price(page: Page, shoot: Shoot, language: str) -> None:
    page.goto("/console/vouchers/new/")
    fill_organisation(page, ORGANISATION)
    page.fill("#id_amount", "12.34")
    today = datetime.now(ZONE).date()
    page.fill("#id_valid_from", today.isoformat())
    page.fill("#id_valid_until", (today + timedelta(days=30)).isoformat())
    submit(page)
    expect(page.locator("main")).to_contain_text("12.34")
    shoot(page, f"voucher-{language}")
    page.goto("/console/prices/new/")
    rate = {"en": "0.25", "zh": "0.26"}[language]  # the same again would change nothing
    page.fill("#id_rate", rate)
    submit(page)
    with page.expect_navigation():  # what the price does, first
        page.locator("#confirm button[type=submit]").click()
    expect(page.locator("#units tbody tr").first).to_contain_text(rate)
    shoot(page, f"price-list-{language}")


def the_months_drafts_are_there(page: Page, shoot: Shoot, language: str) -> None:
    """The month is not complete: drafts may be looked at, and nothing can be issued."""
    page.goto(f"/console/statements/?period={datetime.now(ZONE):%Y-%m}")
    with page.expect_navigation():
        page.locator("form[action$='/statements/build/'] button").click()
    expect(page.locator("#statements tbody tr", has_text=ORGANISATION).first).to_be_visible()
    expect(page.locator("button[data-dialog=issue-all]")).to_have_count(0)
    shoot(page, f"statements-{language}")


def a_file_states_the_sums(page: Page, shoot: Shoot, reference: str, language: str) -> None:
    page.goto("/console/exports/")
    page.select_option("#id_kind", "recharges")
    page.select_option("#id_format", "csv")
    page.fill("#id_q", reference)
    submit(page)
    link = page.locator("#files a[href$='/file/']").first
    expect(link).to_be_visible(timeout=FILE_TIMEOUT_MS)
    shoot(page, f"exports-{language}")
    with page.expect_download() as download:
        link.click()
    content = download.value.path().read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert [row for row in rows if reference in row]
    assert "4000.00" in "".join(rows[-1]).replace(",", "")


def nothing_else_opens(page: Page) -> None:
    for path in ("/console/nodes/", "/console/settings/", "/console/staff/", "/console/audit/", "/console/workloads/"):
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 403, path
