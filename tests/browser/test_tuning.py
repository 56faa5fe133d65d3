"""An experiment from its form to its end: what its page loads anew under one's hands still opens its dialogs."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser


def test_an_experiment_is_started_changed_and_stopped(visit: Visit) -> None:
    page = visit()
    page.goto("/training/new/?example=1")
    page.fill("[name=name]", "to be tuned")
    page.click("#quote button[type=submit]:visible")
    page.wait_for_url(re.compile(r"/training/[0-9a-f-]{36}/"))
    run = page.url.rstrip("/").rpartition("/")[2].partition("?")[0]
    page.goto(f"/tuning/new/?run={run}")
    page.fill("[name=metric]", "loss")
    expect(page.locator("[name=parameter_placed_name]").first).to_have_value("--hidden")
    high = page.locator("[name=parameter_high]").first
    high.fill("1")
    page.click("button[form=new-experiment]")
    expect(page.locator(".pl-param .pl-error")).to_be_visible()
    page.locator("[name=parameter_high]").first.fill("256")
    page.click("button[form=new-experiment]")
    page.wait_for_url(re.compile(r"/tuning/[0-9a-f-]{36}/"))
    expect(page.locator("#importance h2")).to_be_visible()
    expect(page.locator("#outlook h2")).to_be_visible()
    page.click("a[hx-get$='/change/']")
    page.locator("#pl-dialog [name=parallel]").fill("1")
    page.click("#pl-dialog button[type=submit]")
    expect(page.locator("main")).to_contain_text("× 1")
    page.click("button[hx-get$='/ask/stop/']")
    page.click("#pl-dialog button[type=submit]")
    expect(page.locator("button[hx-get$='/ask/stop/']")).to_have_count(0)
