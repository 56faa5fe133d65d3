"""A day in an environment: made, opened, used from inside and outside, left idle, released and taken up again."""

import base64
import re
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_journey import Shoot
from tests.stack import Api, Stack, wait_for

pytestmark = pytest.mark.browser

# The first start builds the image's and JupyterLab's runtimes.
START_TIMEOUT_S = 480
SSH_OPTIONS = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
DROP = """([name, text]) => {
    const given = new DataTransfer()
    given.items.add(new File([text], name, {type: "text/plain"}))
    for (const kind of ["dragenter", "dragover", "drop"])
        document.getElementById("fm").dispatchEvent(
            new DragEvent(kind, {dataTransfer: given, bubbles: true, cancelable: true}))
}"""


# What JupyterLab calls a kernel that waits, in its user's language.
IDLE = {"en": "| Idle", "zh": "| 空闲"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_day_in_an_environment(visit: Visit, stack: Stack, shoot: Shoot, tmp_path: Path, language: str) -> None:
    page = visit(language)
    environment = make(page, f"day {language}", shoot)
    api = Api(stack).sign_in()
    wait_for(lambda: status(api, environment) == "running", START_TIMEOUT_S)
    page.reload()
    expect(page.locator("#env-overview")).to_be_visible()
    shoot(page, f"environment-{language}")
    drag_a_file_in(page, environment, shoot, language)
    run_a_cell(page, shoot, language)
    reach_by_ssh(page, stack, api, environment, tmp_path)
    released_when_idle_and_taken_up_again(page, api, environment, shoot, language)


def make(page: Page, name: str, shoot: Shoot) -> str:
    """The environment's id. A name that cannot be is refused first, and nothing typed is lost."""
    page.goto("/environments/new/")
    page.fill("[name=name]", "no/such name")
    with page.expect_navigation():  # the field says it as well, as soon as it is left, on the page that is about to go
        page.locator("#quote button[type=submit]:visible").click()
    expect(page.locator(".is-invalid").first).to_be_visible()
    assert page.input_value("[name=name]") == "no/such name"
    shoot(page, "environment-refused")
    page.fill("[name=name]", name)
    page.locator("#quote button[type=submit]:visible").click()
    page.wait_for_url(re.compile(r"/environments/[0-9a-f-]{36}/"))
    found = re.search(r"/environments/([0-9a-f-]{36})/", page.url)
    assert found is not None
    return found[1]


def status(api: Api, environment: str) -> str:
    state: str = api.get(f"/environments/{environment}/")["state"]
    assert state != "failed", api.get(f"/environments/{environment}/")
    return state


def drag_a_file_in(page: Page, environment: str, shoot: Shoot, language: str) -> None:
    page.goto(f"/environments/{environment}/?tab=files")
    page.evaluate(DROP, [f"dropped-{language}.txt", "dropped on the page\n"])
    expect(page.locator("#fm-list")).to_contain_text(f"dropped-{language}.txt")
    shoot(page, f"environment-files-{language}")


def run_a_cell(page: Page, shoot: Shoot, language: str) -> None:
    """In JupyterLab, on an origin of its own, where the portal's cookies are not sent."""
    page.goto(page.url.partition("?")[0])
    with page.context.expect_page() as opened:
        page.locator("#env-header a.btn-primary").first.click()
    lab = opened.value
    lab.set_viewport_size({"width": 1366, "height": 768})
    lab.wait_for_url(re.compile(r"\.apps\.localhost:\d+/lab"), timeout=60_000)
    assert not any(cookie["name"].startswith("plstack_session") for cookie in page.context.cookies(lab.url))
    expect(lab.locator(".jp-DirListing-content")).to_contain_text(f"dropped-{language}.txt", timeout=60_000)
    lab.locator(".jp-LauncherCard").first.click(timeout=60_000)
    cell = lab.locator(".jp-Notebook .cm-content").first
    # A cell that is run before its kernel is there is not run at all.
    expect(lab.locator("#jp-main-statusbar")).to_contain_text(IDLE[language], timeout=90_000)
    cell.click()
    lab.keyboard.type(f"import os; print(6 * 7, open('dropped-{language}.txt').read().strip())")
    lab.keyboard.press("Shift+Enter")
    output = lab.locator(".jp-OutputArea-output").first
    expect(output).to_contain_text("42 dropped on the page", timeout=90_000)
    lab.keyboard.press("Control+s")
    lab.wait_for_timeout(1500)
    shoot(lab, f"jupyter-{language}")
    lab.close()


def reach_by_ssh(page: Page, stack: Stack, api: Api, environment: str, tmp_path: Path) -> None:
    """A key added on the page, then the real clients: a command with its exit code, and a file both ways."""
    if shutil.which("ssh") is None:
        pytest.skip("no ssh; on Debian: apt-get install openssh-client")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    page.goto("/account/ssh-keys/")
    page.fill("#id_public_key", (tmp_path / "key.pub").read_text())
    with page.expect_navigation():
        page.locator("main form button.btn-primary").first.click()
    code = api.get(f"/environments/{environment}/")["code"]
    host = [*SSH_OPTIONS, "-i", str(key)]
    to = f"{code}@127.0.0.1"
    said = subprocess.run(
        ["ssh", *host, "-p", str(stack.ssh_port), to, "echo from $((40 + 2)); exit 7"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (said.stdout, said.returncode) == ("from 42\n", 7), said.stderr
    sent, back = tmp_path / "sent.bin", tmp_path / "back.bin"
    sent.write_bytes(base64.b64encode(bytes(range(256)) * 4000))
    copy = ["scp", *host, "-P", str(stack.ssh_port)]
    subprocess.run([*copy, str(sent), f"{to}:copied.bin"], check=True, timeout=60)
    subprocess.run([*copy, f"{to}:copied.bin", str(back)], check=True, timeout=60)
    assert back.read_bytes() == sent.read_bytes()


def released_when_idle_and_taken_up_again(page: Page, api: Api, environment: str, shoot: Shoot, language: str) -> None:
    """The shortest rule there is; the notebook that was saved nowhere else is still there afterwards."""
    change = {"idle_minutes": 1}
    page.goto(f"/environments/{environment}/")
    answer = page.request.patch(
        f"/api/v1/environments/{environment}/", data=change, headers={"X-CSRFToken": csrf(page), "Referer": page.url}
    )
    assert answer.ok, answer.text()
    wait_for(lambda: idle_shown(page), 120, "no countdown on the page")
    shoot(page, f"environment-idle-{language}")
    wait_for(lambda: status(api, environment) == "released", 240, "never released")
    assert Decimal(api.get("/wallet/")["burn_fen_per_hour"]) == 0
    page.reload()
    shoot(page, f"environment-released-{language}")
    with page.expect_navigation():
        page.locator("#env-header form button.btn-primary").click()
    wait_for(lambda: status(api, environment) == "running", START_TIMEOUT_S)
    expect(page.locator("#env-header a.btn-primary").first).to_be_visible()  # it loads itself anew before it says so
    page.goto(f"/environments/{environment}/?tab=files")
    expect(page.locator("#fm-list")).to_contain_text("Untitled.ipynb")
    expect(page.locator("#fm-list")).to_contain_text("copied.bin")
    stop(page, environment)


def idle_shown(page: Page) -> bool:
    page.reload()
    return page.locator("#env-overview .is-warn").count() > 0


def stop(page: Page, environment: str) -> None:
    page.goto(f"/environments/{environment}/")
    page.locator("#env-header button.btn-danger-o").click()
    page.locator("#pl-dialog button[type=submit]").last.click()
    expect(page.locator("#env-header button.btn-danger-o")).to_have_count(0, timeout=60_000)


def csrf(page: Page) -> str:
    return next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "plstack_csrf")
