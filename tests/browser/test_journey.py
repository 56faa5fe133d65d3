"""The main path as a person walks it, in both languages: sign in, quote, start, watch, download, pay."""

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.stack import Api, Stack, wait_for

pytestmark = pytest.mark.browser

FINISHED = {"en": "Finished", "zh": "完成"}
# The first run builds its Python runtime.
RUN_TIMEOUT_MS = 300_000

Shoot = Callable[[Page, str], None]


def run_id_of(page: Page) -> str:
    found = re.search(r"/training/([0-9a-f-]{36})/", page.url)
    assert found is not None, page.url
    return found[1]


def fill_example(page: Page, name: str) -> None:
    page.goto("/training/new/?example=1")
    page.fill("[name=name]", name)
    page.locator("[name=arguments_value]").first.fill("12")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_from_signing_in_to_the_bill(visit: Visit, stack: Stack, shoot: Shoot, tmp_path: Path, language: str) -> None:
    page = visit(language, signed_in=False)
    page.goto("/")
    expect(page).to_have_url(re.compile("/accounts/login/"))
    shoot(page, f"signin-{language}")
    page = visit(language)
    shoot(page, f"overview-first-{language}")

    fill_example(page, f"digits {language}")
    quote = page.locator("#quote")
    expect(quote).to_contain_text("¥0.48")
    expect(page.locator("#command")).to_contain_text("--epochs 12")
    shoot(page, f"new-{language}")
    page.locator("#quote button[type=submit]:visible").click()
    page.wait_for_url(re.compile(r"/training/[0-9a-f-]{36}/"))
    run = run_id_of(page)

    log = page.locator(".pl-log [role=log]").first
    expect(log).to_contain_text("epoch 3/12", timeout=RUN_TIMEOUT_MS)
    shoot(page, f"run-{language}")
    expect(page.locator("#run-header")).to_contain_text(FINISHED[language], timeout=60_000)
    expect(log).to_contain_text("wrote model.joblib")
    lines = [line for line in log.inner_text().splitlines() if "epoch " in line]
    assert [int(re.search(r"epoch (\d+)/", line)[1]) for line in lines] == list(range(1, 13))  # type: ignore[index]
    shoot(page, f"finished-{language}")

    page.goto(f"/training/{run}/?tab=output")
    shoot(page, f"output-{language}")
    with page.expect_download() as download:
        page.locator("tr", has_text="model.joblib").locator("a.btn[download]").click()
    model = tmp_path / "model.joblib"
    download.value.save_as(model)
    assert model.stat().st_size > 10_000
    assert model.read_bytes()[:1] == b"\x80"  # a pickle's first byte: it is the model and not a page about it

    check_charge(page, stack, run)
    shoot(page, f"charges-{language}")
    page.goto("/billing/consumption/")
    expect(page.locator("main")).to_contain_text(f"digits {language}")
    shoot(page, f"consumption-{language}")


def check_charge(page: Page, stack: Stack, run: str) -> None:
    """What the page says was charged is seconds × price, to the fen, and what the wallet paid."""
    api = Api(stack).sign_in()
    cost = wait_for(lambda: (found := api.get(f"/training/runs/{run}/cost/"))["settled"] and found, 90)
    exact = Decimal(cost["exact_fen"])
    assert abs(exact - Decimal(cost["seconds"]) * Decimal(cost["rate_fen_per_hour"]) / 3600) < Decimal("0.000001")
    assert abs(cost["charged_fen"] - exact) < 1
    page.goto(f"/training/{run}/?tab=cost")
    expect(page.locator("#run-charges")).to_contain_text(f"¥{Decimal(cost['charged_fen']) / 100:.2f}")


def test_a_form_with_faults_says_them_and_keeps_what_was_typed(visit: Visit, shoot: Shoot) -> None:
    page = visit("zh")
    fill_example(page, "名字 / 不行")
    page.fill("[name=script]", "../outside.py")
    page.locator("[name=arguments_value]").first.fill("值 有空格")
    with page.expect_navigation():  # fields say their faults as soon as they are left, too
        page.locator("#quote button[type=submit]:visible").click()
    expect(page.locator(".is-invalid").first).to_be_visible()
    assert page.input_value("[name=name]") == "名字 / 不行"
    assert page.locator("[name=arguments_value]").first.input_value() == "值 有空格"
    assert "load_digits" in page.input_value("[name=text]")
    shoot(page, "new-invalid-zh")


def test_a_wrong_password_is_said_in_words_and_signs_nobody_in(visit: Visit, shoot: Shoot) -> None:
    page = visit("zh", signed_in=False)
    page.goto("/accounts/login/")
    page.fill("[name=login]", "admin")
    page.fill("[name=password]", "not this one")
    page.locator("form button[type=submit].btn-primary").click()
    expect(page.locator("[role=alert], .invalid-feedback").first).to_be_visible()
    assert page.input_value("[name=login]") == "admin"
    shoot(page, "signin-error-zh")
    page.goto("/training/")
    expect(page).to_have_url(re.compile("/accounts/login/"))


def test_a_run_is_stopped_after_one_question(visit: Visit, shoot: Shoot) -> None:
    page = visit("en")
    fill_example(page, "stop me")
    page.locator("[name=arguments_value]").first.fill("5000")
    page.locator("#quote button[type=submit]:visible").click()
    page.wait_for_url(re.compile(r"/training/[0-9a-f-]{36}/"))
    expect(page.locator(".pl-log [role=log]").first).to_contain_text("epoch 2/", timeout=RUN_TIMEOUT_MS)
    page.locator("#act-stop").click()
    dialog = page.locator("#pl-dialog")
    expect(dialog).to_contain_text("stop me")
    shoot(page, "run-stop-en")
    dialog.locator("button.btn-danger").click()
    expect(page.locator("#run-header")).to_contain_text("Stopped", timeout=60_000)


def test_a_double_click_starts_one_run(visit: Visit, stack: Stack) -> None:
    page = visit("en")
    fill_example(page, "double")
    page.locator("#quote button[type=submit]:visible").dblclick()
    page.wait_for_url(re.compile(r"/training/[0-9a-f-]{36}/"))
    runs = [run for run in Api(stack).sign_in().get("/training/runs/")["results"] if run["name"] == "double"]
    assert len(runs) == 1


def test_secrets_to_choose_come_when_their_fold_is_opened(visit: Visit, stack: Stack) -> None:
    page = visit()
    page.goto("/secrets/new/")
    page.fill("[name=name]", "HF_TOKEN")
    page.fill("[name=value]", "a token of the hub")
    page.locator("form button[type=submit]", has_text="Set").click()
    page.wait_for_url(re.compile(r"/secrets/[0-9a-f-]{36}/"))
    fill_example(page, "with a token")
    fold = page.locator("#field-id_secrets")
    expect(fold.locator("[data-rows]")).to_have_count(0)
    fold.locator("summary").click()
    fold.locator("[data-rows-add]").click()
    fold.locator("select").select_option(label="HF_TOKEN")
    page.locator("#quote button[type=submit]:visible").click()
    page.wait_for_url(re.compile(r"/training/[0-9a-f-]{36}/"))
    page.goto(f"/training/new/?from={run_id_of(page)}")
    expect(page.locator("#field-id_secrets summary")).to_contain_text("1 given")
