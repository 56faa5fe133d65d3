"""Processes that live and do nothing, Redis emptied under load, Postgres away: work goes on, nobody is signed out."""

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from decimal import Decimal
from http.client import HTTPException
from typing import Any

import pytest
import redis

from plstack.launch.layout import Layout
from plstack.launch.valkey import Valkey
from tests.chaos.test_kill import ENDED, await_status, check_whole, submit
from tests.chaos.test_money import ask
from tests.stack import Api, Stack, wait_for

pytestmark = pytest.mark.chaos

QUICK = "print('done', flush=True)"
REPLACED_WITHIN_S = 30


@pytest.mark.parametrize(
    "victim", ["plstack-worker", "plstack-schedul", "plstack-beat", "plstack-web", "plstack-ssh", "plstack-files"]
)
def test_a_process_that_stands_still_is_replaced(stack: Stack, api: Api, victim: str) -> None:
    await_heartbeats(stack)
    stopped = wait_for(lambda: stack.pids().get(victim), 60, f"{victim} is not there")
    os.kill(stopped, signal.SIGSTOP)
    wait_for(lambda: stack.pids().get(victim) not in (None, stopped), REPLACED_WITHIN_S, f"{victim} stands still")
    kind = "scheduler" if victim == "plstack-schedul" else victim.removeprefix("plstack-")
    wait_for(lambda: ask(stack, f"SELECT 1 FROM common_processreplacement WHERE kind = '{kind}'"), 60)
    run = submit(api_of(stack), QUICK)
    assert await_status(api_of(stack), run, ENDED) == "succeeded"


def await_heartbeats(stack: Stack) -> None:
    """Nobody is found to stand still who was not seen to work before."""
    wait_for(lambda: len(ask(stack, "SELECT 1 FROM common_processheartbeat WHERE beats > 3")) >= 7, 120)


def api_of(stack: Stack) -> Api:
    """Signed in as soon as the pages are there."""
    found: Api = wait_for(lambda: _signed_in(stack), 120)
    return found


def _signed_in(stack: Stack) -> Api | None:
    with suppress(OSError, HTTPException, AssertionError):
        return Api(stack).sign_in()
    return None


def test_all_processes_together_stand_still_and_come_back(stack: Stack, api: Api) -> None:
    """But for the supervisor; as after a machine of which everything was swapped out."""
    await_heartbeats(stack)
    names = ["plstack-worker", "plstack-schedul", "plstack-beat", "plstack-gateway", "plstack-web"]
    before: dict[str, int] = wait_for(lambda: all_of(stack, names), 60, "not all are there")
    for pid in before.values():
        os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: stack.pids().get("plstack-web") not in (None, before["plstack-web"]), REPLACED_WITHIN_S)
    run = submit(api_of(stack), QUICK)
    assert await_status(api_of(stack), run, ENDED) == "succeeded"
    wait_for(lambda: not set(before.values()) & set((all_of(stack, names) or before).values()), 120, "one still stands")


def all_of(stack: Stack, names: list[str]) -> dict[str, int] | None:
    """The process of each name; None while one is missing."""
    pids = stack.pids()
    return {name: pids[name] for name in names} if pids.keys() >= set(names) else None


def test_nobody_is_killed_because_the_database_was_away(stack: Stack, api: Api) -> None:
    before = {name: pid for name, pid in stack.pids().items() if name.startswith("plstack-")}
    postgres = stack.pids()["postgres"]
    os.kill(postgres, signal.SIGSTOP)  # it neither answers nor refuses
    backends = children(postgres)
    for pid in backends:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    time.sleep(35)
    for pid in [postgres, *backends]:
        with suppress(ProcessLookupError):  # one that was about to end: postgres buries it as soon as it goes on
            os.kill(pid, signal.SIGCONT)
    wait_for(lambda: _signed_in(stack), 60)
    time.sleep(10)
    assert {name: pid for name, pid in stack.pids().items() if name.startswith("plstack-")} == before


def children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return list(map(int, file.read().split()))


class Flusher:
    """Empties Redis every few seconds."""

    def __init__(self, stack: Stack) -> None:
        layout = Layout.from_environ({"PLSTACK_HOME": str(stack.home), "PLSTACK_VENV": sys.prefix})
        self.admin = redis.Redis.from_url(Valkey.from_layout(layout).admin_url)
        self.end, self.count = threading.Event(), 0
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        while not self.end.wait(3):
            self.admin.flushall()
            self.count += 1

    def stop(self) -> None:
        self.end.set()
        self.thread.join()


def test_redis_emptied_every_few_seconds_loses_no_task_no_charge_and_no_session(stack: Stack, api: Api) -> None:
    flusher = Flusher(stack)
    try:
        long = submit(api)
        quick: list[dict[str, Any]] = []
        for _ in range(3):
            quick.append(submit(api, QUICK))
            assert await_status(api, quick[-1], ENDED) == "succeeded"
        assert await_status(api, long, ENDED) == "succeeded"
        assert api.get("/me/")["username"] == "admin"  # the session of before
    finally:
        flusher.stop()
    assert flusher.count > 5
    check_whole(api, long)
    charged = [wait_for(lambda run=run: cost_of(api, run), 120, "not charged") for run in quick]
    assert all(Decimal(cost["exact_fen"]) > 0 for cost in charged)


def cost_of(api: Api, run: dict[str, Any]) -> dict[str, Any] | None:
    cost: dict[str, Any] = api.get(f"/training/runs/{run['id']}/cost/")
    return cost if cost["settled"] else None


def test_while_postgres_restarts_everything_says_come_again(stack: Stack, api: Api) -> None:
    """Under load: pages and API, signed in and not."""
    answers: list[tuple[str, int, str, str]] = []
    end = threading.Event()

    def visit(path: str) -> None:
        while not end.is_set():
            with suppress(OSError, HTTPException):
                answers.append((path, *api.answer(path)))
            time.sleep(0.05)

    paths = ["/", "/accounts/login/", "/api/v1/me/", "/training/", "/healthz", "/console/"]
    visitors = [threading.Thread(target=visit, args=(path,)) for path in paths]
    for visitor in visitors:
        visitor.start()
    for _ in range(2):
        time.sleep(2)
        os.kill(wait_for(lambda: stack.pids().get("postgres"), 60), signal.SIGKILL)
        time.sleep(6)
    end.set()
    for visitor in visitors:
        visitor.join()
    away = [answer for answer in answers if answer[1] == 503]
    assert away, "nobody noticed"
    assert {status for _path, status, *_ in answers} <= {200, 302, 503}
    assert all(retry for _path, _status, retry, _kind in away)
    assert {kind for path, _status, _retry, kind in away if path.startswith("/api/")} <= {"application/problem+json"}
    wait_for(lambda: api.answer("/healthz")[0] == 200, 120)
