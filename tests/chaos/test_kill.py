"""kill -9 of any process during a run: the run is not disturbed, its log has no hole, its charge is right."""

import os
import signal
from decimal import Decimal
from http.client import HTTPException
from typing import Any
from uuid import uuid4

import pytest

from tests.stack import Api, Stack, start, wait_for

pytestmark = pytest.mark.chaos

SECONDS = 25
PROGRAM = f"""
import os, time
began = time.monotonic()
print("pid", os.getpid(), flush=True)
for tick in range({SECONDS * 10}):
    print("tick", tick, flush=True)
    time.sleep(0.1)
print("took", time.monotonic() - began, flush=True)
open(os.environ["PLSTACK_OUTPUT"] + "/done", "w").write("whole")
"""
ENDED = {"succeeded", "failed", "stopped"}


def submit(api: Api, program: str = PROGRAM) -> dict[str, Any]:
    image = next(image for image in api.get("/images/")["results"] if image["key"] == "python")
    package = api.get("/packages/")["results"][0]
    body = {
        "name": "chaos",
        "image": image["id"],
        "package": package["id"],
        "entry": "python",
        "script": "main.py",
        "text": program,
    }
    run: dict[str, Any] = api.post("/training/runs/", body, Idempotency_Key=uuid4().hex)
    return run


def status(api: Api, run: dict[str, Any]) -> str:
    return str(api.get(f"/training/runs/{run['id']}/")["status"])


def await_status(api: Api, run: dict[str, Any], wanted: set[str], timeout_s: float = 120) -> str:
    return str(
        wait_for(
            lambda: (found := status(api, run)) in wanted and found,
            timeout_s,
            f"still {status(api, run)}, not {wanted}",
        )
    )


def log_of(api: Api, run: dict[str, Any]) -> list[str]:
    return api.body(f"/training/{run['id']}/log/").decode().splitlines()


def check_whole(api: Api, run: dict[str, Any]) -> None:
    """It ran once, from the first tick to the last, and is charged for exactly that."""
    lines = log_of(api, run)
    assert sum(line.startswith("pid ") for line in lines) == 1
    assert [line for line in lines if line.startswith("tick ")] == [f"tick {n}" for n in range(SECONDS * 10)]
    cost = wait_for(lambda: settled(api, run), 120, "not charged")
    seconds, rate = Decimal(str(cost["seconds"])), Decimal(str(cost["rate_fen_per_hour"]))
    (took,) = (float(line.split()[1]) for line in lines if line.startswith("took "))
    assert SECONDS <= took <= seconds <= took + 15
    assert abs(Decimal(cost["exact_fen"]) - seconds * rate / 3600) < Decimal("0.000001")
    # Whole fen are charged, what is left over is carried to the organisation's next bill.
    assert abs(cost["charged_fen"] - Decimal(cost["exact_fen"])) < 1


def settled(api: Api, run: dict[str, Any]) -> dict[str, Any] | None:
    cost: dict[str, Any] = api.get(f"/training/runs/{run['id']}/cost/")
    return cost if cost["settled"] else None


@pytest.mark.parametrize(
    "victim", ["plstack-web", "plstack-gateway", "plstack-ssh", "plstack-worker", "plstack-schedul", "plstack-beat"]
)
def test_a_killed_process_comes_back_and_disturbs_nothing(stack: Stack, api: Api, victim: str) -> None:
    run = submit(api)
    await_status(api, run, {"running"})
    killed = stack.pids()[victim]
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: stack.pids().get(victim) not in (None, killed), 60, f"{victim} did not come back")
    wait_for(lambda: _answers(api), 120)
    assert await_status(api, run, ENDED) == "succeeded"
    check_whole(api, run)


def _answers(api: Api) -> bool:
    """Not that somebody is away, which is an answer too."""
    try:
        return "username" in api.get("/me/")
    except (OSError, HTTPException, ValueError):
        return False


@pytest.mark.parametrize("victim", ["postgres", "valkey-server"])
def test_a_killed_server_comes_back_and_disturbs_nothing(stack: Stack, api: Api, victim: str) -> None:
    run = submit(api)
    await_status(api, run, {"running"})
    os.kill(stack.pids()[victim], signal.SIGKILL)
    wait_for(lambda: _answers(api), 120)
    assert await_status(api, run, ENDED) == "succeeded"
    check_whole(api, run)


def test_the_whole_platform_killed_and_started_again_adopts_what_runs(stack: Stack, api: Api) -> None:
    run = submit(api)
    await_status(api, run, {"running"})
    os.kill(stack.process.pid, signal.SIGKILL)
    stack.process.wait(60)
    stack.process = start(stack.home, stack.port).process
    assert await_status(api, run, ENDED) == "succeeded"
    check_whole(api, run)
