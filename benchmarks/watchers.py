"""People of one organisation watching its list of runs while somebody submits: how soon each page shows the new run.

    python -m benchmarks.watchers [--watchers 1000] [--submissions 20] [--pause 2] [--idle 30] [--json]

One web process as the platform starts it (uvicorn, the application's own database role), the platform's Postgres with
its settings in a temporary folder, Redis on a private socket. Each watcher is a person of their own, an administrator
of the organisation, with a session and a WebSocket that offers compression as browsers do and asks for what the list's
page asks for. Runs are submitted through the form of the page, `--pause` seconds apart, first with nobody watching.
No scheduler runs, so each submission is one change.

"committed" is when a subscriber of Redis hears of a submission, which is after its commit. "heard" is when a socket
has the event, "shown" when it has the list with the new run in it, both in milliseconds after "committed", over all
watchers and submissions; a page that is told to fetch the list itself shows nothing here. A browser needs about 10 ms
more to draw. "web_cpu_ms_each" is the processor time of the web process for one submission: its request, drawing the
list, telling everybody. "idle" is that while nothing changes, in percent of a core, its checks of everybody's rights
included. The watchers run in one process beside it and take some of the machine.
"""

import argparse
import asyncio
import http.client
import json
import os
import secrets
import shutil
import threading
import time
from statistics import median
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import redis

from benchmarks import notify  # isort: skip  (sets Django up, with a folder of its own)
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from apps.common.scoping import acting
from apps.tenants.choices import Role
from apps.tenants.models import Membership, User
from apps.training.models import Run
from benchmarks.page_socket import BINARY, TEXT, PageSocket
from benchmarks.servers import own_server
from tests.builders import World, make_world, platform
from tests.training.kit import form_for

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"
LIST, FORM = "/training/", "/training/new/"
GOAL_MS, GOAL_CPU = 200, 20
COMMIT_S = 30
# Everybody's rights have been checked once by then.
SETTLE_S = 15
OPENING_AT_ONCE = 20


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted.add_argument("--watchers", type=int, default=1000)
    wanted.add_argument("--submissions", type=int, default=20)
    wanted.add_argument("--pause", type=float, default=2.0, help="seconds between submissions")
    wanted.add_argument("--idle", type=int, default=30, help="seconds without a change")
    wanted.add_argument("--json", action="store_true")
    asked = wanted.parse_args()
    try:
        found = measure(asked.watchers, asked.submissions, asked.pause, asked.idle)
    finally:
        shutil.rmtree(notify.HOME, ignore_errors=True)
    print(json.dumps(found) if asked.json else "\n".join(f"{name}: {value}" for name, value in found.items()))


def measure(watchers: int, submissions: int, pause: float, idle: int) -> dict[str, Any]:
    with own_server() as server, notify.redis() as redis_url, acting(platform()):
        world = make_world(balance_fen=10**8, role=Role.ADMIN)
        cookies = people(world, watchers)
        with notify.web(server, redis_url) as (port, pid):
            submitter = Submitter(world, port, redis_url, cookies[0])
            submitter.submit()  # the first of a process loads what the others find
            alone = [submitter.submit().took_ms for _ in range(submissions)]
            sockets, made, idle_pct, spent = asyncio.run(_watched(submitter, cookies, pid, submissions, pause, idle))
            submitter.close()
            return figures(sockets, made) | {
                "web_cpu_ms_each": round(spent, 1),
                "idle_cpu_pct": round(idle_pct, 1),
                "goal_idle_cpu_pct": GOAL_CPU,
                "submission_alone_p50_ms": round(median(alone), 1),
                "submission_alone_p99_ms": p99(alone),
                "load": round(os.getloadavg()[0], 1),
            }


async def _watched(
    submitter: "Submitter", cookies: list[str], pid: int, submissions: int, pause: float, idle: int
) -> tuple[list[PageSocket], list["Submission"], float, float]:
    sockets = await opened(submitter.port, cookies, submitter.world)
    await asyncio.sleep(SETTLE_S)
    before, began = notify.cpu_ms(pid), time.monotonic()
    await asyncio.sleep(idle)
    idle_pct = (notify.cpu_ms(pid) - before) / (time.monotonic() - began) / 10
    made, before, began = list[Submission](), notify.cpu_ms(pid), time.monotonic()
    for _number in range(submissions):
        made.append(await asyncio.to_thread(submitter.submit))
        await asyncio.sleep(pause)
    spent = notify.cpu_ms(pid) - before - idle_pct * 10 * (time.monotonic() - began)
    for socket in sockets:
        socket.hang_up()
    return sockets, made, idle_pct, spent / len(made)


def p99(times: list[float]) -> float | None:
    return round(sorted(times)[len(times) * 99 // 100], 1) if times else None


def people(world: World, count: int) -> list[str]:
    """Session keys of so many administrators of the organisation."""
    users = User.objects.bulk_create(
        User(username=f"watcher-{number}", email=f"watcher-{number}@example.com", password="!")  # noqa: S106
        for number in range(count)
    )
    Membership.objects.bulk_create(
        Membership(user=user, organisation=world.organisation, role=Role.ADMIN) for user in users
    )
    return [_session(user) for user in users]


def _session(user: User) -> str:
    session = SessionStore()
    session[SESSION_KEY], session[BACKEND_SESSION_KEY] = str(user.pk), BACKEND
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return str(session.session_key)


class Submission:
    """A submitted run: `word` is in whatever shows it; when its commit was heard of; how long its request took."""

    def __init__(self, word: str, committed: float, took_ms: float) -> None:
        self.word, self.committed, self.took_ms = word, committed, took_ms


class Submitter:
    """Sends the form of a new run."""

    def __init__(self, world: World, port: int, redis_url: str, session: str) -> None:
        self.world, self.port, self.session = world, port, session
        self.commits: list[tuple[float, bytes]] = []
        self._pubsub = redis.Redis.from_url(redis_url).pubsub()  # type: ignore[no-untyped-call]
        self._pubsub.psubscribe("*")
        self._is_closed = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        while not self._is_closed:
            message = self._pubsub.get_message(timeout=1)
            if message and message["type"] == "pmessage" and b"workload.event" in message["data"]:
                self.commits.append((time.monotonic(), message["data"]))

    def close(self) -> None:
        self._is_closed = True
        self._listener.join()

    def submit(self) -> Submission:
        token, name, known = secrets.token_hex(16), f"watched-{secrets.token_hex(6)}", len(self.commits)
        form = {**form_for(self.world, name=name, key=secrets.token_hex(16)), "csrfmiddlewaretoken": token}
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"plstack_session={self.session}; plstack_csrf={token}",
        }
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        began = time.monotonic()
        link.request("POST", FORM, urlencode(form, doseq=True), headers)
        answer = link.getresponse()
        body = answer.read()
        took = (time.monotonic() - began) * 1000
        link.close()
        run = (answer.getheader("Location") or "").removeprefix(LIST).rstrip("/")
        if len(run) != len(str(UUID(int=0))):
            raise RuntimeError(f"{answer.status} {run} {body.decode(errors='replace')[-3000:]}")
        end = began + COMMIT_S
        while len(self.commits) == known:
            if time.monotonic() > end:
                raise RuntimeError("nothing was published")
            time.sleep(0.005)
        return Submission(run, self.commits[known][0], took)


async def opened(port: int, cookies: list[str], world: World) -> list[PageSocket]:
    asks = {"subscribe": [f"org.{world.organisation.pk}"], "last": 0, "lists": {"runs": LIST}}
    loop, sockets, limit = asyncio.get_running_loop(), [], asyncio.Semaphore(OPENING_AT_ONCE)

    async def one(session: str) -> None:
        async with limit:
            watcher = PageSocket(port, session, asks)
            await loop.create_connection(lambda: watcher, "127.0.0.1", port)
            await watcher.open.wait()
            sockets.append(watcher)

    await asyncio.gather(*map(one, cookies))
    return sockets


def figures(sockets: list[PageSocket], made: list[Submission]) -> dict[str, Any]:
    heard, shown = delays(sockets, made)
    took = [each.took_ms for each in made]
    return {
        "watchers": len(sockets),
        "submissions": len(made),
        "closed": sum(socket.closed_early for socket in sockets),
        "heard": len(heard),
        "heard_p50_ms": round(median(heard), 1) if heard else None,
        "heard_p99_ms": p99(heard),
        "shown": len(shown),
        "shown_p50_ms": round(median(shown), 1) if shown else None,
        "shown_p99_ms": p99(shown),
        "goal_shown_p99_ms": GOAL_MS,
        "bytes_each": round(sum(socket.size for socket in sockets) / len(sockets) / len(made)),
        "submission_p50_ms": round(median(took), 1),
        "submission_p99_ms": p99(took),
    }


def delays(sockets: list[PageSocket], made: list[Submission]) -> tuple[list[float], list[float]]:
    """Milliseconds from each commit until each socket had the event, and until it had the list with the run."""
    heard: list[float] = []
    shown: list[float] = []
    events = {submission.word: workload_of(submission.word) for submission in made}
    for socket in sockets:
        told = socket.told()
        for submission in made:
            for kind, word, times in ((TEXT, events[submission.word], heard), (BINARY, submission.word, shown)):
                at = next((at for at, as_what, text in told if as_what == kind and word.encode() in text), None)
                if at is not None:
                    times.append((at - submission.committed) * 1000)
    return heard, shown


def workload_of(run_id: str) -> str:
    return str(Run.objects.values_list("workload_id", flat=True).get(pk=run_id))


if __name__ == "__main__":
    main()
