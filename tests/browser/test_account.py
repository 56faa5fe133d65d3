"""One's own account in a browser: a token, an SSH key and a second factor, each with one wrong turn."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import ADMIN, PASSWORD, Visit
from tests.browser.test_journey import Shoot
from tests.tenants.test_second_factor import totp

pytestmark = pytest.mark.browser
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICFo/k5LU8863u66YC9eUO2170QduohPURkQnbLa/dcz me@laptop"
MAIN = "main form button.btn-primary"


def submit(page: Page) -> None:
    """Press the one primary button of the page's form."""
    with page.expect_navigation():
        page.locator(MAIN).first.click()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_token_is_made_used_and_revoked(visit: Visit, shoot: Shoot, language: str) -> None:
    page = visit(language)
    page.goto("/account/tokens/new/")
    page.select_option("#id_place", "console")
    page.wait_for_selector("input[value='platform.nodes.view']")
    submit(page)  # without a name
    assert page.locator("#field-id_name .pl-error").is_visible()
    page.fill("#id_name", f"nightly {language}")
    submit(page)
    token = page.inner_text("#token")
    shoot(page, f"token-{language}")
    ask = {"Authorization": f"Bearer {token}"}
    assert page.request.get("/api/v1/console/nodes/", headers=ask).status == 200
    page.goto("/account/tokens/")
    assert token not in page.content()
    page.locator("main button[data-dialog^=revoke-]").first.click()
    with page.expect_navigation():
        page.locator("dialog[open] button[type=submit]").click()
    assert page.request.get("/api/v1/console/nodes/", headers=ask).status == 401


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_private_key_is_refused_and_its_public_half_taken(visit: Visit, shoot: Shoot, language: str) -> None:
    page = visit(language)
    page.goto("/account/ssh-keys/")
    page.fill("#id_public_key", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA")
    submit(page)
    assert page.locator("#field-id_public_key .pl-error").is_visible()
    assert page.input_value("#id_public_key") == ""
    shoot(page, f"key-refused-{language}")
    page.fill("#id_public_key", KEY)
    submit(page)
    assert "SHA256:" in page.inner_text("main table")
    page.locator("main button[data-dialog^=remove-]").first.click()
    with page.expect_navigation():
        page.locator("dialog[open] button[type=submit]").click()


def test_the_second_factor_is_set_up_asked_for_and_switched_off(visit: Visit, shoot: Shoot) -> None:
    page = visit()
    page.goto("/accounts/2fa/totp/activate/")
    page.fill("#id_password", PASSWORD)
    submit(page)
    secret = page.inner_text("#totp-secret")
    shoot(page, "second-factor")
    page.fill("#id_code", "000000")
    submit(page)
    assert page.locator("#field-id_code .pl-error").is_visible()
    page.fill("#id_code", totp(secret))
    submit(page)
    code = page.inner_text("#codes").split()[0]
    try:
        _sign_in_with(visit, shoot, code)
    finally:
        page.goto("/accounts/2fa/totp/deactivate/")
        with page.expect_navigation():
            page.locator("main form button.btn-danger").click()


def _sign_in_with(visit: Visit, shoot: Shoot, code: str) -> None:
    other = visit(signed_in=False)
    other.goto("/accounts/login/")
    other.fill("[name=login]", ADMIN)
    other.fill("[name=password]", PASSWORD)
    submit(other)
    assert "/2fa/authenticate/" in other.url
    other.fill("#id_code", "123456")
    submit(other)
    assert other.locator("#field-id_code .pl-error").is_visible()
    shoot(other, "second-step")
    other.fill("#id_code", code)
    submit(other)
    assert other.goto("/account/security/").status == 200  # type: ignore[union-attr]
