"""The filters above the packages of a form, in a browser: by mouse and by keyboard, on a desk and on a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_console import add_simulated_zone, confirm
from tests.browser.test_journey import Shoot

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("path", "phone"), [("/training/new/?example=1", False), ("/environments/new/", True)])
def test_packages_are_narrowed_without_a_request(visit: Visit, shoot: Shoot, path: str, phone: bool) -> None:
    page = visit("en", phone=phone)
    zone = add_simulated_zone(page, shoot, "en")
    page.goto(path)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    rows = page.locator("#package-rows tr[data-facets]:visible")
    chips = page.get_by_role("group", name="Filter packages")
    chosen = page.locator("#package-rows :checked").get_attribute("id")
    all_of_them = rows.count()
    chips.get_by_role("button", name="A30").click()
    expect(rows).to_have_count(1 + page.locator("tr[data-facets~='model:A30']").count())
    expect(page.locator(f"#{chosen}")).to_be_visible()  # what would be started stays in sight
    isolated = chips.get_by_role("button", name="Isolated by hardware")
    isolated.focus()
    page.keyboard.press("Space")
    expect(isolated).to_have_attribute("aria-pressed", "true")
    expect(page.locator("tr[data-facets]:visible", has_text="shared 1/8")).to_have_count(0)
    expect(page.locator("tr[data-facets]:visible", has_text="A30 whole card")).to_have_count(1)
    chips.get_by_role("button", name="All").click()
    isolated.click()
    expect(rows).to_have_count(all_of_them)
    assert not [each for each in asked if "quote" in each]
    shoot(page, f"package-filters-{'phone' if phone else 'desk'}")
    page.goto(zone)
    confirm(page, "remove")
