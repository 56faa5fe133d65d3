"""kill -9 of the worker while a run gives way: once during its notice, once while it saves. It goes on all the same."""

import os
import signal
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from tests.chaos.test_kill import ENDED, await_status, log_of, settled
from tests.stack import Api, Stack, wait_for

pytestmark = pytest.mark.chaos

NOTICE_S, SAVES_S = 10, 8
# Works until it is told to end, takes its time to save, and goes on from there when it is started again.
TRAINS = f"""
import os, pathlib, signal, sys, time
folder = pathlib.Path(os.environ["PLSTACK_CHECKPOINTS"])
saved = folder / "state"
if saved.exists():
    print("resumed at", saved.read_text(), "after restart", os.environ["PLSTACK_RESTART"], flush=True)
    sys.exit(0)
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
print("ready", flush=True)
while not told:
    time.sleep(0.1)
print("saving", flush=True)
time.sleep({SAVES_S})
folder.mkdir(exist_ok=True)
saved.write_text("step 7")
sys.exit(143)
"""
QUICK = "print('done', flush=True)"


def submit(api: Api, package: int, program: str, priority: int) -> dict[str, Any]:
    image = next(image for image in api.get("/images/")["results"] if image["key"] == "python")
    body = {
        "name": f"priority-{priority}",
        "image": image["id"],
        "package": package,
        "entry": "python",
        "script": "main.py",
        "text": program,
        "priority": priority,
    }
    run: dict[str, Any] = api.post("/training/runs/", body, Idempotency_Key=uuid4().hex)
    return run


def more_than_half(api: Api) -> int:
    """A package of which the node holds one at a time."""
    node = api.get("/console/nodes/")["results"][0]
    body = {
        "name_en": f"More than half {uuid4().hex[:6]}",
        "name_zh": f"过半 {uuid4().hex[:6]}",
        "cpu_milli": node["cpu_milli"] * 11 // 20,
        "memory_mib": 512,
        "rate_fen_per_hour": "1800",
    }
    return int(api.post("/console/packages/", body)["id"])


def preemptions(api: Api, run: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get(f"/workloads/{run['workload']}/contract/")["preemptions"]
    return found


def kill_worker(stack: Stack) -> None:
    killed = stack.pids()["plstack-worker"]
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: stack.pids().get("plstack-worker") not in (None, killed), 60, "the worker did not come back")


def test_it_saves_gives_way_and_goes_on_whoever_is_killed(stack: Stack, api: Api) -> None:
    api.patch("/console/settings/queue/", {"notice_s": NOTICE_S, "save_s": 120, "min_runtime_s": 0})
    package = more_than_half(api)
    low = submit(api, package, TRAINS, 1)
    await_status(api, low, {"running"})
    wait_for(lambda: "ready" in log_of(api, low), 60)
    high = submit(api, package, QUICK, 2)
    wait_for(lambda: preemptions(api, low), 60, "nobody was asked to give way")
    kill_worker(stack)
    wait_for(lambda: "saving" in log_of(api, low), 90, "it was never told to end")
    kill_worker(stack)
    assert await_status(api, high, ENDED) == "succeeded"
    assert await_status(api, low, ENDED) == "succeeded"
    assert any(line.startswith("resumed at step 7 after restart 1") for line in log_of(api, low))
    (row,) = preemptions(api, low)
    assert (row["outcome"], row["attempt"]) == ("requeued", 1)
    check_money(api, low, row)


def check_money(api: Api, run: dict[str, Any], row: dict[str, Any]) -> None:
    """What ran is charged, less what was lost; what was lost is the little since it had saved."""
    cost = wait_for(lambda: settled(api, run), 120, "not charged")
    seconds, rate = Decimal(str(cost["seconds"])), Decimal(str(cost["rate_fen_per_hour"]))
    credited = Decimal(cost["credited_fen"])
    assert abs(Decimal(cost["exact_fen"]) + credited - seconds * rate / 3600) < Decimal("0.000001")
    assert abs(credited - Decimal(str(row["lost_s"])) * rate / 3600) < Decimal("0.01")
    assert abs(row["credited_fen"] - credited) <= 1
    assert 0 <= row["lost_s"] < SAVES_S
