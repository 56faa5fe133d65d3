"""How the log viewer of a run's page holds up: a long log that has ended, and one that grows by 10 MB/s.

    python3 -m benchmarks.logview [--url URL --password PASSWORD] [--lines N] [--seconds S] [--json]

Starts a copy of the platform (or takes the running one at --url), submits two runs as its administrator and looks at
their pages in headless Chromium, 1366x768, nothing cached.

First lines: from the start of the navigation until lines of the log are in the page. Long tasks: what the browser's own
PerformanceObserver reports, the main thread busy for more than 50 ms by the clock on the wall, which counts the waits
for a core as well. Busiest task: processor time of the main thread's longest task, from Chromium's trace. Heap: used
bytes after a collection. Exit status 1 when a target is missed. Other work on the machine makes figures worse, never
better.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from playwright.sync_api import Browser, Page, sync_playwright

from tests.stack import ADMIN, PASSWORD, Api, running, wait_for

CHROMIUM = "/usr/bin/chromium"
TARGETS = {"first_lines_ms": 1000.0, "busiest_task_ms": 100.0}
OBSERVE = """
window.longTasks = [];
new PerformanceObserver(list => window.longTasks.push(...list.getEntries().map(one => one.duration)))
  .observe({ type: "longtask", buffered: true });
new MutationObserver((_, observer) => {
  if (!document.querySelector(".pl-log .cm-line")?.textContent) return;
  window.firstLines = performance.now();
  observer.disconnect();
}).observe(document, { childList: true, subtree: true });
"""
ENDED = """
import sys
for n in range({lines}):
    sys.stdout.write("%06d step %07d loss %.6f lr 1.25e-04 grad %.4f tokens/s %6d eta 01:23\\n"
                     % (n, n * 10, 2 / (n + 1), n % 97 / 97, 40000 + n % 999))
"""
GROWING = """
import sys, time
line = "".join("%04d step loss 0.123456 " % n for n in range(5))[:99] + "\\n"
began = time.monotonic()
written = 0
while time.monotonic() - began < {seconds}:
    sys.stdout.write(line * 1000)
    sys.stdout.flush()
    written += 100_000
    time.sleep(max(0.0, written / 10e6 - (time.monotonic() - began)))
"""


@dataclass(frozen=True, slots=True)
class Result:
    """`nodes`: elements below the log. `busiest_task_ms`: of all that is done to either log, opening included."""

    log_mb: float
    first_lines_ms: float
    opening_tasks_ms: list[float]
    scrolling_tasks_ms: list[float]
    search_ms: float
    hits: int
    nodes: int
    heap_mb: float
    growing_mb_per_s: float
    growing_tasks_ms: list[float]
    growing_nodes: int
    growing_heap_mb: list[float]
    opening_busiest_ms: float
    scrolling_busiest_ms: float
    growing_busiest_ms: float

    @property
    def busiest_task_ms(self) -> float:
        return max(self.opening_busiest_ms, self.scrolling_busiest_ms, self.growing_busiest_ms)


@contextmanager
def platform(url: str, password: str) -> Iterator[tuple[str, Api]]:
    if url:
        yield url, Api(SimpleNamespace(url=url)).sign_in(password=password)  # type: ignore[arg-type]
        return
    with running() as stack:
        yield stack.url, Api(stack).sign_in()


def submit(api: Api, name: str, program: str) -> str:
    image = next(one for one in api.get("/images/")["results"] if one["key"] == "python")
    body = {"name": name, "image": image["id"], "package": 1, "entry": "python", "script": "main.py", "text": program}
    return str(api.post("/training/runs/", body, Idempotency_Key=uuid4().hex)["id"])


def status(api: Api, run: str) -> str:
    return str(api.get(f"/training/runs/{run}/")["status"])


def sign_in(page: Page, password: str) -> None:
    page.goto("/accounts/login/")
    page.fill("[name=login]", ADMIN)
    page.fill("[name=password]", password)
    page.locator("form button[type=submit].btn-primary").click()
    page.wait_for_url("**/")


def long_tasks(page: Page) -> list[float]:
    """Since the last time that they were asked for."""
    found: list[float] = page.evaluate("window.longTasks.splice(0)")
    return [round(one) for one in found]


def nodes(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('.pl-log *').length"))


def heap_mb(page: Page) -> float:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    return round(float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6, 1)


class Trace:
    """Processor time of the main thread's tasks, while the block runs."""

    def __init__(self, browser: Browser, page: Page) -> None:
        self.browser, self.page, self.busiest_ms = browser, page, 0.0

    def __enter__(self) -> "Trace":
        self.browser.start_tracing(page=self.page, categories=["toplevel", "disabled-by-default-devtools.timeline"])
        return self

    def __exit__(self, *_failure: object) -> None:
        events = json.loads(self.browser.stop_tracing())["traceEvents"]
        mains = {
            (event["pid"], event["tid"])
            for event in events
            if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
        }
        tasks = (
            event.get("tdur", 0)
            for event in events
            if event["name"] in ("RunTask", "ThreadControllerImpl::RunTask") and (event["pid"], event["tid"]) in mains
        )
        self.busiest_ms = round(max(tasks, default=0) / 1000, 1)


def until(page: Page, script: str) -> float:
    """Milliseconds until the page finds it true."""
    began = time.perf_counter()
    page.wait_for_function(script, timeout=60_000)
    return round((time.perf_counter() - began) * 1000)


def look_at_ended(browser: Browser, page: Page, run: str) -> dict[str, Any]:
    with Trace(browser, page) as opening:
        page.goto(f"/training/{run}/?tab=log")
        page.wait_for_function(
            "() => window.firstLines && document.querySelector('.pl-log').dataset.state === 'complete'"
        )
        page.wait_for_timeout(1000)
    found: dict[str, Any] = {"first_lines_ms": round(page.evaluate("window.firstLines"))}
    found["opening_tasks_ms"] = long_tasks(page)
    with Trace(browser, page) as scrolling:
        page.locator("[data-log-fold]").click()
        page.locator(".pl-log .cm-scroller").hover()
        for _turn in range(60):
            page.mouse.wheel(0, -4000)
            page.wait_for_timeout(50)
        page.fill("[data-log-find]", "000123 step")
        found["search_ms"] = until(page, "() => document.querySelector('.pl-found-now')")
    found["hits"] = int(page.locator("[data-log-matches]").inner_text().split("/")[1])
    found["scrolling_tasks_ms"] = long_tasks(page)
    found |= {"opening_busiest_ms": opening.busiest_ms, "scrolling_busiest_ms": scrolling.busiest_ms}
    return {**found, "nodes": nodes(page), "heap_mb": heap_mb(page)}


def look_at_growing(browser: Browser, page: Page, run: str, api: Api, seconds: float) -> dict[str, Any]:
    wait_for(lambda: status(api, run) == "running", 120)
    page.goto(f"/training/{run}/?tab=log")
    page.wait_for_function("() => window.firstLines")
    page.wait_for_timeout(1000)
    long_tasks(page)
    size = "+document.querySelector('[data-log-status]').textContent.replace(/\\D/g, '')"
    heaps = [heap_mb(page)]
    with Trace(browser, page) as growing:
        began, before = time.monotonic(), page.evaluate(size)
        page.wait_for_timeout(seconds * 1000)
        rate = round((page.evaluate(size) - before) / (time.monotonic() - began) / 1e6, 1)
    heaps.append(heap_mb(page))
    return {
        "growing_mb_per_s": rate,
        "growing_tasks_ms": long_tasks(page),
        "growing_busiest_ms": growing.busiest_ms,
        "growing_nodes": nodes(page),
        "growing_heap_mb": heaps,
    }


def measure(url: str, password: str, lines: int, seconds: float) -> Result:
    with platform(url, password) as (address, api), sync_playwright() as playwright:
        ended = submit(api, "long log", ENDED.format(lines=lines))
        wait_for(lambda: status(api, ended) in ("succeeded", "failed"), 300)
        size = api.get(f"/training/runs/{ended}/log/lines/")["size"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(base_url=address, viewport={"width": 1366, "height": 768})
        page.add_init_script(OBSERVE)
        sign_in(page, password)
        found = look_at_ended(browser, page, ended)
        growing = submit(api, "growing log", GROWING.format(seconds=seconds + 20))
        found |= look_at_growing(browser, page, growing, api, seconds)
        browser.close()
    return Result(log_mb=round(size / 1e6, 1), **found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="a running copy; without, one is started")
    parser.add_argument("--password", default=PASSWORD, help="of its administrator")
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    options = parser.parse_args()
    result = measure(options.url, options.password, options.lines, options.seconds)
    figures = {**asdict(result), "busiest_task_ms": result.busiest_task_ms}
    for name, value in figures.items():
        print(f"{name}: {value}")
    if options.json:
        print(json.dumps(figures))
    missed = [name for name, limit in TARGETS.items() if figures[name] > limit]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
