"""The images of a form, in a browser: grouped, searched by name and package, and chosen as before."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("phone", [False, True])
def test_a_search_finds_by_package_and_asks_for_no_quote(visit: Visit, phone: bool) -> None:
    page = visit("en", phone=phone)
    page.goto("/environments/new/")
    common = page.locator("details[data-find-group]", has_text="Common")
    expect(common).to_have_attribute("open", "")
    expect(page.locator("label.pl-choice:visible", has_text="XGBoost")).to_have_count(0)
    quotes: list[str] = []
    page.on("request", lambda request: quotes.append(request.url) if "quote" in request.url else None)
    search = page.get_by_role("searchbox", name="Search images")
    search.fill("polars")
    found = page.locator("label.pl-choice:visible")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("pandas 3 and Polars 2")
    search.fill("nothing like it")
    expect(page.get_by_text("No image has this in its name or packages.")).to_be_visible()
    search.fill("XGB")
    page.wait_for_timeout(600)  # twice what the form waits before it asks
    assert quotes == []
    with page.expect_request(lambda request: "quote" in request.url):
        page.locator("label.pl-choice:visible", has_text="XGBoost 3.2").click()
    search.fill("")
    expect(page.locator("label.pl-choice:visible", has_text="XGBoost 3.2").locator("input")).to_be_checked()
    expect(page.locator("label.pl-choice:visible", has_text="Ray")).to_have_count(0)
