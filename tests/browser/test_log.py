"""The log of a run: from its end, back to its beginning, searched as a whole, folded, linked to, live."""

import re
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.wheel import turn_up, wait_at_rest
from tests.stack import Api, Stack, wait_for

pytestmark = pytest.mark.browser

LINES = 60_000
# Words that differ from line to line, so that nothing is folded.
LONG = f"""
import sys
words = "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
for n in range({LINES}):
    sys.stdout.write(f"{{n:06d}} {{words[n % 10]}} loss {{1 / (n + 1):.6f}} 训练 padding padding padding\\n")
"""
ODD = """
import sys, time
out = sys.stdout.buffer
out.write("\\x1b[1;31mred\\x1b[0m 训练 \\U0001F680 plain\\n".encode())
for n in range(5):
    out.write(b"\\r %d%%" % (n * 25)); out.flush(); time.sleep(0.1)
out.write(b"\\nbinary \\x00\\xff\\xfe end\\n")
out.write(b"x" * 5000 + b"tail-of-the-long-line\\n")
for n in range(100):
    out.write(b"epoch %d loss %.3f\\n" % (n, 1 / (n + 1)))
out.write(b"Traceback: the end\\n")
"""
NOT_BUSY = "() => !document.querySelector('[data-log]').hasAttribute('aria-busy')"
AT_END = """() => { const box = document.querySelector(".pl-log .cm-scroller");
  return box.scrollHeight - box.scrollTop - box.clientHeight < 30 }"""
# A function, as all that is waited for: what an expression gives at a later look would need `eval`, which pages forbid.
NOT_AT_END = f"() => !({AT_END})()"


def submitted(stack: Stack, name: str, program: str) -> str:
    api = Api(stack).sign_in()
    image = next(image["id"] for image in api.get("/images/")["results"] if image["key"] == "python")
    body = {"name": name, "image": image, "package": 1, "entry": "python", "script": "main.py", "text": program}
    return str(api.post("/training/runs/", body, Idempotency_Key=uuid4().hex)["id"])


def finished(stack: Stack, name: str, program: str) -> str:
    run, api = submitted(stack, name, program), Api(stack).sign_in()
    wait_for(lambda: api.get(f"/training/runs/{run}/")["status"] == "succeeded", 300, "the run has not ended well")
    return run


@pytest.fixture(scope="module")
def long_run(stack: Stack) -> str:
    return finished(stack, "long log", LONG)


def shown(page: Page) -> list[str]:
    """The lines in sight, of a frame that is painted: between two, what was scrolled to may not be drawn yet."""
    found: list[str] = page.evaluate(
        """async () => {
        const frame = () => new Promise(painted => requestAnimationFrame(() => requestAnimationFrame(painted)));
        await frame();
        while (!document.querySelector(".pl-log .cm-scroller")) await frame();  // while the pane is drawn anew
        const box = document.querySelector(".pl-log .cm-scroller").getBoundingClientRect();
        return [...document.querySelectorAll(".pl-log .cm-line")].filter(line => {
          const place = line.getBoundingClientRect();
          return place.bottom > box.top && place.top < box.bottom }).map(line => line.innerText) }"""
    )
    return found


def numbers(page: Page) -> list[int]:
    return [int(line[:6]) for line in shown(page) if re.match(r"\d{6} ", line)]


def open_log(page: Page, run: str, tail: str = "") -> None:
    page.goto(f"/training/{run}/?tab=log{tail}")
    expect(page.locator(".pl-log .cm-line").first).not_to_be_empty()


def wait_in_sight(page: Page, text: str) -> None:
    """Until the line is drawn where one sees it: it is marked before it has been scrolled to."""
    page.wait_for_function(
        """text => { const box = document.querySelector(".pl-log .cm-scroller").getBoundingClientRect();
        return [...document.querySelectorAll(".pl-log .cm-line")].filter(line => line.textContent.includes(text))
          .map(line => line.getBoundingClientRect())
          .some(line => line.top >= box.top - 1 && line.bottom <= box.bottom + 1) }""",
        arg=text,
    )


def click_time_of(page: Page, text: str) -> None:
    """Of a line in sight, found and clicked between two frames: a mouse may come down on the line that came there."""
    page.evaluate(
        """text => { const place = element => element.getBoundingClientRect();
        const lines = [...document.querySelectorAll(".pl-log .cm-line")];
        const { top } = place(lines.find(line => line.textContent.includes(text)));
        const times = [...document.querySelectorAll(".pl-log-time .cm-gutterElement")];
        times.find(time => Math.abs(place(time).top - top) < 2).click() }""",
        text,
    )


def test_it_begins_at_the_end_and_goes_back_to_the_beginning(visit: Visit, long_run: str) -> None:
    page = visit("en")
    open_log(page, long_run)
    expect(page.locator(".pl-log .cm-content")).to_contain_text(f"{LINES - 1:06d} ")
    assert page.locator(".pl-log *").count() < 2000  # a window of lines, however long the log
    expect(page.locator("[data-log-follow]")).to_have_attribute("aria-pressed", "true")

    page.locator(".pl-log .cm-scroller").hover()
    reached, turns = LINES, 0
    while reached >= LINES - 12_000:  # earlier lines are put in above, without a hole or a repeat
        page.mouse.wheel(0, -2500)
        page.wait_for_function(NOT_BUSY)
        found = numbers(page)
        assert found == list(range(found[0], found[0] + len(found)))
        assert found[0] <= reached
        reached, turns = found[0], turns + 1
        assert turns < 400, f"it goes no further back than to {reached}"
    expect(page.locator("[data-log-follow]")).to_have_attribute("aria-pressed", "false")

    page.locator("[data-log-beginning]").click()
    expect(page.locator(".pl-log .cm-content")).to_contain_text("000000 alpha")
    page.locator(".pl-log .cm-content").press("G")
    expect(page.locator(".pl-log .cm-content")).to_contain_text(f"{LINES - 1:06d} ")
    page.locator(".pl-log .cm-content").press("g")
    expect(page.locator(".pl-log .cm-content")).to_contain_text("000000 alpha")


def test_lines_have_the_time_zone_of_the_page_wherever_one_reads(visit: Visit, long_run: str) -> None:
    found = []
    for zone in ("Asia/Shanghai", "America/New_York"):
        page = visit("en", zone=zone)
        open_log(page, long_run)
        page.locator("[data-log-beginning]").click()
        expect(page.locator(".pl-log .cm-content")).to_contain_text("000000 alpha")
        found.append(page.locator(".pl-log-time .cm-gutterElement:visible").nth(1).inner_text())
    assert re.fullmatch(r"(\d\d-\d\d )?\d\d:\d\d:\d\d", found[0])
    assert found[0] == found[1]


def test_earlier_lines_do_not_move_what_one_reads(visit: Visit, long_run: str) -> None:
    page = visit("en")
    open_log(page, long_run)
    place = """() => { const box = document.querySelector(".pl-log .cm-scroller").getBoundingClientRect();
      const lines = [...document.querySelectorAll(".pl-log .cm-line")];
      const line = lines.find(one => one.getBoundingClientRect().top >= box.top);
      return [line.textContent, line.getBoundingClientRect().top] }"""
    page.locator(".pl-log .cm-scroller").hover()
    turn_up(page)
    page.wait_for_function(NOT_AT_END)
    wait_at_rest(page, ".pl-log .cm-scroller")
    shown(page)
    before = page.evaluate(place)
    with page.expect_response(re.compile("/log/lines/")):
        page.locator("[data-log-earlier]").click()
    page.wait_for_function(NOT_BUSY)
    shown(page)
    after = page.evaluate(place)
    assert after[0] == before[0]
    assert abs(after[1] - before[1]) < 2


def test_the_server_finds_what_is_not_on_the_page(visit: Visit, long_run: str) -> None:
    page = visit("zh")
    open_log(page, long_run)
    page.locator(".pl-log .cm-content").press("/")
    expect(page.locator("[data-log-find]")).to_be_focused()
    page.keyboard.type("GAMMA LOSS")
    matches = page.locator("[data-log-matches]")
    expect(matches).to_have_text(re.compile(rf"^[\d,]+ / {LINES // 10:,}$"))
    page.locator("[data-log-case]").click()
    expect(matches).not_to_contain_text("/")
    page.locator("[data-log-case]").click()
    page.fill("[data-log-find]", "000122 gamma")
    expect(matches).to_have_text("1 / 1")
    expect(page.locator(".pl-found-now")).to_have_text("000122 gamma")
    wait_in_sight(page, "000122 gamma")
    wait_in_sight(page, "000120 alpha")  # with what stands around it


def test_a_line_has_an_address(visit: Visit, stack: Stack, long_run: str) -> None:
    api, found = Api(stack).sign_in(), dict[str, Any](hits=[], next_offset=0)
    while not found["hits"]:  # an answer takes its time and no longer, however slow the machine
        found = api.get(f"/training/runs/{long_run}/log/search/?text=030007&offset={found['next_offset']}")
    hit = found["hits"][0]["offset"]
    page = visit("en")
    open_log(page, long_run, f"#L{hit}")
    expect(page.locator(".pl-log-picked")).to_contain_text("030007 theta")
    wait_in_sight(page, "030007 theta")
    click_time_of(page, "030009 kappa")
    expect(page.locator(".pl-log-picked")).to_contain_text("030009 kappa")
    expect(page).to_have_url(re.compile(rf"tab=log.*#L(?!{hit}$)\d+$"))


def test_odd_output_is_shown_as_it_was_meant(visit: Visit, stack: Stack) -> None:
    run = finished(stack, "odd log", ODD)
    page = visit("en", phone=True)
    open_log(page, run)
    page.locator("[data-log-status]").scroll_into_view_if_needed()  # lines below the screen are not drawn
    content = page.locator(".pl-log .cm-content")
    expect(content).to_contain_text("Traceback: the end")
    lines = ["epoch 0 loss 1.000", "epoch 1 loss 0.500", "epoch 99 loss 0.010"]
    wait_for(lambda: [line for line in shown(page) if line.startswith("epoch ")] == lines, 60)
    page.get_by_role("button", name="97 similar lines folded").click()
    expect(content).to_contain_text("epoch 50 loss")
    page.locator("[data-log-beginning]").click()  # how far above what is in sight lines are drawn is not said
    expect(page.locator(".pl-log .fg-1.bold")).to_have_text("red")
    expect(content).to_contain_text("训练 🚀 plain")
    expect(content).to_contain_text("binary \ufffd\ufffd end")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page = visit("en")
    open_log(page, run)
    content = page.locator(".pl-log .cm-content")
    expect(content).to_contain_text("100%")
    expect(content).not_to_contain_text("50%")
    expect(content).not_to_contain_text("tail-of-the-long-line")
    page.get_by_role("button", name=re.compile("more characters")).click()
    expect(page.locator(".pl-log .cm-content")).to_contain_text("tail-of-the-long-line")
    page.get_by_role("button", name="show what was written over").click()
    expect(page.locator(".pl-log .cm-content")).to_contain_text("25% ␍  50%")
    page.locator(".pl-log .cm-content").press("ControlOrMeta+a")
    copied = page.evaluate(
        """() => { const data = new DataTransfer();
        document.querySelector(".pl-log .cm-content").dispatchEvent(new ClipboardEvent("copy", {clipboardData: data,
          bubbles: true, cancelable: true})); return data.getData("text/plain") }"""
    )
    assert "epoch 50 loss 0.020\nepoch 51 loss 0.019" in copied  # what is folded too, and no times
    times = page.locator(".pl-log-time .cm-gutterElement:visible").nth(1)
    expect(times).to_have_text(re.compile(r"\d\d:\d\d:\d\d$"))
    page.locator("[data-log-times]").select_option("since")
    expect(times).to_have_text(re.compile(r"^\+0:\d\d:\d\d\.\d$"))
    page.locator("[data-log-times]").select_option("off")
    expect(page.locator(".pl-log-time")).to_have_count(0)
