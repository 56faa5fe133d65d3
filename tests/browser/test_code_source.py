"""Where the code of a run comes from, as its form shows it."""

import pytest
from playwright.sync_api import expect

from apps.training.git.confinement import program
from tests.browser.conftest import Visit

pytestmark = [pytest.mark.browser, pytest.mark.skipif(program() is None, reason="git is not installed")]


def test_what_names_a_repository_comes_when_that_is_chosen(visit: Visit) -> None:
    page = visit("en")
    page.goto("/training/new/?blank=1")
    address = page.get_by_label("Address of the repository")
    expect(address).to_have_count(0)
    page.get_by_label("Git repository").check()
    expect(address).to_be_visible()
    address.fill("ftp://example.com/x.git")
    page.get_by_role("button", name="Fetch").click()
    expect(page.locator("#git-box")).to_contain_text("https")
    expect(address).to_have_value("ftp://example.com/x.git")
    page.get_by_label("Write here").check()
    expect(address).to_be_hidden()
