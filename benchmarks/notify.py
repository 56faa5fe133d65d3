"""Payment notices at a steady rate: how long the provider waits for `success`.

    python -m benchmarks.notify [--rate 50] [--seconds 30] [--organisations 200] [--json]

One web process as the platform starts it (uvicorn, the application's own database role), the platform's Postgres with
its settings in a temporary folder, Redis on a private socket. Every notice is signed as the provider signs (RSA2) and
is about an open payment of its own, spread over the organisations' wallets. Notices are sent on a fixed time table, and
the milliseconds run from the time at which one was due, so that a server that falls behind is seen to (no coordinated
omission). At the end every payment must be credited exactly once and the books must be balanced.
"""

import argparse
import http.client
import json
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any

import django

HOME = Path(tempfile.mkdtemp(prefix="plstack-notify-"))
HOME.chmod(0o755)
os.environ["PLSTACK_HOME"] = str(HOME)  # the key that seals the provider's settings lies there, for both processes
os.environ.setdefault("PLSTACK_VENV", sys.prefix)  # with Postgres and Redis in it
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.test")
django.setup()

from apps.billing.choices import ORGANISATION_KINDS, AccountKind, TopUpStatus  # noqa: E402  after set-up
from apps.billing.ledger.selectors import drift  # noqa: E402
from apps.billing.models import Account, TopUpOrder  # noqa: E402
from apps.common.clock import db_now  # noqa: E402
from apps.common.scoping import acting  # noqa: E402
from apps.tenants import settings  # noqa: E402
from apps.tenants.models import Organisation  # noqa: E402
from benchmarks.servers import Server, own_server  # noqa: E402
from plstack.launch.layout import Layout  # noqa: E402
from plstack.launch.postgres import APP  # noqa: E402
from plstack.launch.valkey import Valkey  # noqa: E402
from tests.billing.alipay.gateway import Deal, Gateway, form  # noqa: E402
from tests.billing.builders import PLATFORM  # noqa: E402

PATH, CLIENTS, GOAL_MS = "/billing/alipay/notify/", 16, 200
WARM_UP = 50


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted.add_argument("--rate", type=int, default=50, help="notices a second")
    wanted.add_argument("--seconds", type=int, default=30)
    wanted.add_argument("--organisations", type=int, default=200)
    wanted.add_argument("--json", action="store_true")
    asked = wanted.parse_args()
    try:
        found = measure(asked.rate, asked.seconds, asked.organisations)
    finally:
        shutil.rmtree(HOME, ignore_errors=True)
    print(json.dumps(found) if asked.json else "\n".join(f"{name}: {value}" for name, value in found.items()))


def measure(rate: int, seconds: int, organisations: int) -> dict[str, Any]:
    """Milliseconds of the notices after the warm-up, and the load while they were sent."""
    with own_server() as server, redis() as redis_url, acting(PLATFORM):
        settings.put(PLATFORM, Gateway(url="http://127.0.0.1:9").settings())
        bodies = payments(rate * seconds + WARM_UP, organisations)
        with web(server, redis_url) as (port, pid):
            send(port, bodies[:WARM_UP], rate)
            before = cpu_ms(pid)
            times = sorted(send(port, bodies[WARM_UP:], rate))
            spent = cpu_ms(pid) - before
        check(len(bodies))
    return {
        "notices": len(times),
        "rate": rate,
        "p50_ms": round(median(times), 1),
        "p99_ms": round(times[len(times) * 99 // 100], 1),
        "max_ms": round(times[-1], 1),
        "goal_p99_ms": GOAL_MS,
        "web_cpu_ms_each": round(spent / len(times), 1),
        "load": round(os.getloadavg()[0], 1),
    }


def payments(count: int, organisations: int) -> list[bytes]:
    """Open payments, and the signed notice that each was paid."""
    homes = Organisation.objects.bulk_create(
        Organisation(name=f"Payer {number}", slug=f"payer-{number}") for number in range(organisations)
    )
    Account.objects.bulk_create(Account(organisation=home, kind=kind) for home in homes for kind in ORGANISATION_KINDS)
    until, gateway = db_now() + timedelta(hours=1), Gateway()
    orders = [
        TopUpOrder(
            organisation=homes[number % organisations],
            out_trade_no=f"BENCH{number:08d}",
            amount_fen=100,
            expires_at=until,
        )
        for number in range(count)
    ]
    TopUpOrder.objects.bulk_create(orders)
    for number, order in enumerate(orders):
        gateway.deals[order.out_trade_no] = Deal(order.amount_fen, f"2026{number:012d}", "TRADE_SUCCESS")
    return [form(gateway.notice(order.out_trade_no)) for order in orders]


def send(port: int, bodies: list[bytes], rate: int) -> list[float]:
    """Milliseconds from the moment at which each was due to its answer, which must be `success`."""
    due: queue.SimpleQueue[tuple[float, bytes] | None] = queue.SimpleQueue()
    begin = time.monotonic() + 0.5
    for number, body in enumerate(bodies):
        due.put((begin + number / rate, body))
    times: list[float] = []
    wrong: list[str] = []
    for _client in range(CLIENTS):
        due.put(None)
    clients = [threading.Thread(target=_client_of, args=(port, due, times, wrong)) for _client in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if wrong:
        raise RuntimeError(f"{len(wrong)} notices were not taken: {wrong[0]}")
    return times


def _client_of(port: int, due: "queue.SimpleQueue[Any]", times: list[float], wrong: list[str]) -> None:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while (next_one := due.get()) is not None:
        at, body = next_one
        time.sleep(max(0.0, at - time.monotonic()))
        link.request("POST", PATH, body, {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"})
        answer = link.getresponse()
        text = answer.read()
        times.append((time.monotonic() - at) * 1000)
        if text != b"success":
            wrong.append(f"{answer.status} {text.decode(errors='replace')[:2000]}")
    link.close()


def cpu_ms(pid: int) -> float:
    """What a process has used of the processors so far, in user and kernel mode."""
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) * 1000 / os.sysconf("SC_CLK_TCK")


def check(count: int) -> None:
    """Every payment is credited once, and balances are the sums of their movements."""
    paid = TopUpOrder.objects.filter(status=TopUpStatus.PAID, transfer__isnull=False).count()
    wallets = sum(Account.objects.filter(kind=AccountKind.CASH).values_list("balance_fen", flat=True))
    if (paid, wallets, list(drift())) != (count, count * 100, []):
        raise RuntimeError(f"{paid} of {count} paid, {wallets} fen in wallets, drift {drift()}")


@contextmanager
def redis() -> Iterator[str]:
    layout = replace(Layout.from_environ(), home=HOME)
    layout.logs.mkdir(exist_ok=True)
    valkey = Valkey.from_layout(layout)
    valkey.start()
    try:
        valkey.await_ready()
        yield valkey.url
    finally:
        valkey.stop()


@contextmanager
def web(server: Server, redis_url: str) -> Iterator[tuple[int, int]]:
    """The port and the id of a web process that answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    url = server.postgres.url(APP)
    env = {**os.environ, "DATABASE_URL": url, "DATABASE_OWNER_URL": url, "REDIS_URL": redis_url}
    argv = [sys.executable, "-m", "uvicorn", "plstack.asgi:application", "--port", str(port), "--log-level", "error"]
    # As plstack.launch.processes has it.
    argv += ["--ws-per-message-deflate", "false", "--timeout-graceful-shutdown", "3"]
    process = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL)
    try:
        _await(port, process)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(60)


def _await(port: int, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError("the web process does not answer")


if __name__ == "__main__":
    main()
