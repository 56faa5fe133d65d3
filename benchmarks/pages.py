"""Pages and lists a second, by web processes as the platform starts them, to people who ask without a pause.

    python -m benchmarks.pages [--web 1] [--seconds 8] [--rounds 3] [--connections 8] [--nodes 50] [--queued 200]
                              [--json]

The platform's Postgres with its settings in a temporary folder and the application's own role, Redis on a private
socket, `--web` processes that share a port. In the database: machines of eight cards, all taken, workloads that wait,
and one organisation with 200 runs of Alice (8 running, 4 waiting, the others stopped), notices and charges. Alice asks
for the portal's overview, the training list (25 rows) and the API's list of runs (50), an administrator for the
console's overview. Each of the keep-alive connections (a thread each, in one process of its own, `Accept-Encoding:
gzip`) sends the next request when it has the answer. Each is asked for `--seconds` in each of the rounds, all in turns,
after a warm-up that is not counted.

`per_second`: the median of the rounds. `cpu_ms`: processor time of the web processes for one answer. `statements`: what
one answer asks of the database, and `calls`: of functions, as cProfile counts them, for a third visit, both counted in
this process and therefore the same on a busy machine. `bytes`: the body as it was sent. The generator and Postgres
share the cores with the web processes, so `cpu_ms` says more on a busy machine. No page is kept between two requests,
but rows of lists are (`apps/common/kept.py`): `made_ms` is the processor time of one answer in this process when none
is kept, `kept_ms` when all are, both the median of 20 answers in turns, after a visit that is not counted.
"""

import argparse
import cProfile
import http.client
import json
import logging
import multiprocessing
import os
import pstats
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import django
import structlog

HOME = Path(tempfile.mkdtemp(prefix="plstack-pages-"))
HOME.chmod(0o755)
os.environ["PLSTACK_HOME"] = str(HOME)
os.environ["PLSTACK_SECRET_KEY"] = secrets.token_urlsafe(32)  # signs the sessions that the web processes are to read
os.environ.setdefault("PLSTACK_VENV", sys.prefix)  # with Postgres and Redis in it
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.test")
django.setup()

from django.conf import settings  # noqa: E402  after set-up
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402

import plstack.celery  # noqa: E402, F401  the application whose broker is ours
from apps.clusters.models import Node  # noqa: E402
from apps.common import kept  # noqa: E402
from apps.common.scoping import acting  # noqa: E402
from apps.notifications.services import notify_user  # noqa: E402
from apps.tenants.models import User  # noqa: E402
from apps.training import services as training  # noqa: E402
from benchmarks.crowd import Builder, Crowd  # noqa: E402
from benchmarks.notify import cpu_ms, redis  # noqa: E402
from benchmarks.servers import Server, own_server  # noqa: E402
from plstack.celery import app as celery  # noqa: E402
from plstack.launch.postgres import APP  # noqa: E402
from tests.builders import World, make_charged, make_package, make_staff, make_world, platform, signed_in  # noqa: E402
from tests.portal.kit import start  # noqa: E402
from tests.training.kit import submit  # noqa: E402

RUNS, RUNNING, WAITING = 200, 8, 4
TURNS = 20
WARM_UP_S = 2.0
SERVE = """
import socket, sys, uvicorn
from plstack.asgi import application
config = uvicorn.Config(application, lifespan="on", access_log=False, log_level="error")
uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])
"""
GOALS = {"portal overview": 60, "training list": 80, "console overview": 80, "API list of runs": 200}


@dataclass(frozen=True, slots=True)
class Page:
    """What is asked for, and as whom: the session's cookie."""

    name: str
    url: str
    cookie: str
    statements: int
    calls: int
    made_ms: float
    kept_ms: float


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted.add_argument("--web", type=int, default=1, help="web processes")
    wanted.add_argument("--seconds", type=float, default=8)
    wanted.add_argument("--rounds", type=int, default=3)
    wanted.add_argument("--connections", type=int, default=8)
    wanted.add_argument("--nodes", type=int, default=50)
    wanted.add_argument("--queued", type=int, default=200)
    wanted.add_argument("--json", action="store_true")
    asked = wanted.parse_args()
    logging.disable(logging.INFO)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    try:
        found = measure(asked)
    finally:
        shutil.rmtree(HOME, ignore_errors=True)
    print(json.dumps(found) if asked.json else _table(found))


def measure(asked: argparse.Namespace) -> dict[str, Any]:
    with own_server() as server, redis() as redis_url:
        celery.conf.update(broker_url=redis_url.replace("unix://", "redis+socket://", 1))
        settings.REDIS_URL = redis_url
        pages = fill(asked.nodes, asked.queued)
        with web(server, redis_url, asked.web) as (port, pids):
            for page in pages:
                ask(port, page, asked.connections, WARM_UP_S)
            rounds = [_round(port, pids, pages, asked) for _again in range(asked.rounds)]
    return {
        "pages": {page.name: _of(page, [each[page.name] for each in rounds]) for page in pages},
        "web_processes": asked.web,
        "connections": asked.connections,
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }


def _round(port: int, pids: list[int], pages: list[Page], asked: argparse.Namespace) -> dict[str, dict[str, float]]:
    found = {}
    for page in pages:
        before = sum(map(cpu_ms, pids))
        count, size = ask(port, page, asked.connections, asked.seconds)
        spent = sum(map(cpu_ms, pids)) - before
        found[page.name] = {"per_second": count / asked.seconds, "cpu_ms": spent / max(count, 1), "bytes": size}
    return found


def _of(page: Page, rounds: list[dict[str, float]]) -> dict[str, float]:
    figures = {name: round(median(each[name] for each in rounds), 1) for name in rounds[0]}
    counted = {name: getattr(page, name) for name in ("statements", "calls", "made_ms", "kept_ms")}
    return {**figures, **counted, "goal_per_second": GOALS[page.name]}


def fill(nodes: int, queued: int) -> list[Page]:
    """The world that the pages show, and their addresses."""
    with acting(platform()) as staff:
        Builder(Crowd(nodes=nodes, queued=queued)).build()
        world = make_world(balance_fen=10_000_000)
        administrator = make_staff()
        for _more in range(11):
            make_package()
        Node.objects.filter(pk=world.node.pk).update(cpu_milli=64_000, memory_mib=64_000)
        Node.objects.filter(pk=world.node.pk).update(
            last_seen_at=Node.objects.exclude(pk=world.node.pk)[0].last_seen_at
        )
    _runs(world)
    with acting(staff):
        for _each in range(5):
            make_charged(world.organisation, world.alice, world.package)
            here, alice = world.organisation.pk, world.alice.pk
            notify_user(organisation_id=here, user_id=alice, kind="billing.low", data={"funds_fen": 1})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return [
        _page("portal overview", "/", world.alice),
        _page("training list", "/training/?page_size=50", world.alice),
        _page("console overview", "/console/", administrator),
        _page("API list of runs", "/api/v1/training/runs/?page_size=50", world.alice),
    ]


def _runs(world: World) -> None:
    for number in range(RUNS):
        run = submit(world, name=f"run {number}")
        if number >= RUNS - WAITING:
            continue
        if number >= RUNS - WAITING - RUNNING:
            start(world, run)
            continue
        with acting(world.actor) as actor:
            training.stop(actor, run)


def _page(name: str, url: str, user: User) -> Page:
    """Asked here three times, to count the statements of a second visit and the calls of a third."""
    client = signed_in(user)
    client.get(url)
    with CaptureQueriesContext(connection) as queries:
        status = client.get(url).status_code
        count = len(queries.captured_queries)
    if status != 200:
        raise RuntimeError(f"{url} answers {status}")
    with cProfile.Profile() as profile:
        client.get(url)
    calls: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    made, known = [], []
    for _turn in range(TURNS):
        kept.forget()
        made.append(_spent_ms(client, url))
        known.append(_spent_ms(client, url))
    times = round(median(made), 1), round(median(known), 1)
    return Page(name, url, f"{settings.SESSION_COOKIE_NAME}={cookie}", count, calls, *times)


def _spent_ms(client: Client, url: str) -> float:
    begun = time.thread_time()
    client.get(url)
    return 1000 * (time.thread_time() - begun)


def ask(port: int, page: Page, connections: int, seconds: float) -> tuple[int, int]:
    """How many answers came in that time, and the size of the last one's body; the generator is a process apart."""
    answers: multiprocessing.Queue[tuple[int, int, str]] = multiprocessing.Queue()
    generator = multiprocessing.Process(target=_generate, args=(port, page, connections, seconds, answers))
    generator.start()
    count, size, wrong = answers.get()
    generator.join()
    if wrong:
        raise RuntimeError(f"{page.url}: {wrong}")
    return count, size


def _generate(port: int, page: Page, connections: int, seconds: float, answers: Any) -> None:
    found: list[tuple[int, int, str]] = []
    end = time.monotonic() + seconds
    clients = [threading.Thread(target=_client, args=(port, page, end, found)) for _each in range(connections)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    wrong = next((why for _count, _size, why in found if why), "")
    answers.put((sum(count for count, _size, _why in found), found[0][1] if found else 0, wrong))


def _client(port: int, page: Page, end: float, found: list[tuple[int, int, str]]) -> None:
    link, count, size = http.client.HTTPConnection("127.0.0.1", port, timeout=60), 0, 0
    headers = {"Cookie": page.cookie, "Accept-Encoding": "gzip", "Accept": "*/*"}
    while time.monotonic() < end:
        link.request("GET", page.url, headers=headers)
        answer = link.getresponse()
        size = len(answer.read())
        if answer.status != 200:
            found.append((count, size, f"answered {answer.status}"))
            return
        count += time.monotonic() < end
    link.close()
    found.append((count, size, ""))


@contextmanager
def web(server: Server, redis_url: str, processes: int) -> Iterator[tuple[int, list[int]]]:
    """The port, and the ids of the web processes that accept connections from one socket, as those of a zygote do."""
    url = server.postgres.url(APP)
    env = {**os.environ, "DATABASE_URL": url, "DATABASE_OWNER_URL": url, "REDIS_URL": redis_url}
    with socket.socket() as listening, ExitStack() as ended:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        port: int = listening.getsockname()[1]
        handle = listening.fileno()
        pids = []
        for _each in range(processes):
            process = subprocess.Popen([sys.executable, "-c", SERVE, str(handle)], env=env, pass_fds=[handle])
            ended.callback(process.wait, 20)
            ended.callback(process.terminate)
            pids.append(process.pid)
        yield port, pids


def _table(found: dict[str, Any]) -> str:
    columns = ("per_second", "goal_per_second", "cpu_ms", "made_ms", "kept_ms", "statements", "calls", "bytes")
    lines = [f"{'':20}" + "".join(f"{name:>18}" for name in columns)]
    for name, figures in found["pages"].items():
        lines.append(f"{name:20}" + "".join(f"{figures[column]:18}" for column in columns))
    rest = ("web_processes", "connections", "cores", "load")
    return "\n".join([*lines, ", ".join(f"{name} {found[name]}" for name in rest)])


if __name__ == "__main__":
    main()
