"""What the ledger takes: postings and batch rating beside pgbench's TPC-B, in the same round on the same server.

    python -m benchmarks.ledger [--seconds 8] [--rounds 3] [--clients 1 8 32] [--json]

The server is the platform's own Postgres in a temporary folder with the platform's settings: what is committed is on
the disk (fsync, synchronous_commit). Only `shared_buffers` is larger, so that TPC-B's tables lie in memory as a whole,
which favours TPC-B. TPC-B is `pgbench -b tpcb-like` at scale 32, simple protocol, as many threads as cores.

A posting is usage from an organisation's wallet to its revenue (1,000 organisations, application role, all triggers,
constraints and foreign keys), each with a business key of its own:

- `sql`: the INSERT alone, sent by the same pgbench;
- `service`: `apps.billing.services.post`, one process per client, the accounts known as they are to a rating;
- `uniform`, `zipf` (pgbench allows an exponent of 1.001 at the least; the service draws with 1.0) and `one`: which
  organisation pays.

In each round TPC-B runs directly before what is compared with it; a ratio is the median over the rounds of (postings/s
÷ TPC-B's transactions/s) at the same number of clients. `rating` is `rate_due` in one process: charges (one hour of one
session each) per second, compared with TPC-B of one client and, without a goal, with the best of TPC-B in that round.
At the end all balances must add up to zero and agree with the transfers.
"""

import argparse
import json
import multiprocessing
import os
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.test")
django.setup()

from django.db import connection  # noqa: E402  after set-up

from apps.billing import selectors, services  # noqa: E402
from apps.billing.choices import ORGANISATION_KINDS, AccountKind, TransferKind  # noqa: E402
from apps.billing.models import Account, MeterSession, PriceVersion  # noqa: E402
from apps.common.actor import Channel, system_actor  # noqa: E402
from apps.common.clock import db_now  # noqa: E402
from apps.common.scoping import NOBODY, acting  # noqa: E402
from apps.tenants.models import Organisation, User  # noqa: E402
from benchmarks.servers import Server, own_server, settings_of  # noqa: E402
from plstack.launch.postgres import APP, SUPERUSER  # noqa: E402

ORGANISATIONS, SCALE = 1000, 32
RATED_ORGANISATIONS, SESSIONS, HOURS = 20, 25, 24
GOALS = {"sql": 0.8, "service": 0.4, "one": 0.2, "rating": 5.0}
DRAWS = {"uniform": "random(1, :n)", "zipf": "random_zipfian(1, :n, 1.001)", "one": "1"}
SCRIPT = """\\set o {draw}
INSERT INTO billing_transfer (organisation_id, debit_id, credit_id, amount_fen, kind, idem, ref, note, actor_label)
SELECT organisation, cash, revenue, 1, 'usage', gen_random_uuid()::text, '', '', 'benchmark' FROM bench_pair
    WHERE number = :o;
"""
PAIRS = """
CREATE TABLE bench_pair AS SELECT
    row_number() OVER (ORDER BY cash.id) AS number, organisation_id AS organisation,
    cash.id AS cash, revenue.id AS revenue
    FROM billing_account cash JOIN billing_account revenue USING (organisation_id)
    WHERE cash.kind = 'cash' AND revenue.kind = 'revenue';
ALTER TABLE bench_pair ADD PRIMARY KEY (number);
GRANT SELECT ON bench_pair TO plstack_app;
"""
TPS = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
SYSTEM = system_actor(Channel.COMMAND)


@dataclass(slots=True)
class Round:
    """Transactions per second: `tpcb` by clients, `postings` by (how, whom, clients); `rating`: charges per second."""

    tpcb: dict[int, float] = field(default_factory=dict)
    postings: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)


def pgbench(server: Server, clients: int, seconds: int, *script: str, database: str, role: str = SUPERUSER) -> float:
    """Transactions per second."""
    threads = min(clients, os.cpu_count() or 1)
    options = ["-n", "-c", str(clients), "-j", str(threads), "-T", str(seconds), *script]
    found = TPS.search(server.run("pgbench", *options, database=database, role=role))
    if found is None:
        raise RuntimeError("pgbench said no tps")
    return float(found[1])


def by_sql(server: Server, whom: str, clients: int, seconds: int) -> float:
    script = Path(server.postgres.layout.home) / f"{whom}.sql"
    script.write_text(SCRIPT.format(draw=DRAWS[whom]))
    options = ["-f", str(script), "-D", f"n={ORGANISATIONS}"]
    return pgbench(server, clients, seconds, *options, database="plstack", role=APP)


def by_service(pairs: Sequence[tuple[Account, Account]], whom: str, clients: int, seconds: int) -> float:
    """Postings per second of `clients` processes. They are forked, so that each is ready at once."""
    connection.close()
    context = multiprocessing.get_context("fork")
    barrier, counts = context.Barrier(clients), context.Queue()
    crowd = [
        context.Process(target=post_for, args=(pairs, whom, seconds, number, barrier, counts))
        for number in range(clients)
    ]
    for process in crowd:
        process.start()
    done = [counts.get(timeout=seconds + 120) for _ in crowd]
    for process in crowd:
        process.join()
    return float(sum(count / length for count, length in done))


def post_for(pairs: Any, whom: str, seconds: int, number: int, barrier: Any, counts: Any) -> None:
    """One client: post until the time is over, tell (how many, seconds)."""
    chance = random.Random(number)  # noqa: S311
    weights = list(accumulate(1 / rank for rank in range(1, len(pairs) + 1))) if whom == "zipf" else None
    chosen = pairs[:1] if whom == "one" else chance.choices(pairs, cum_weights=weights, k=20_000)
    with acting(SYSTEM):
        connection.ensure_connection()
        barrier.wait(60)
        began, count = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            wallet, revenue = chosen[count % len(chosen)]
            services.post(
                SYSTEM,
                posting=services.Posting(
                    debit=wallet, credit=revenue, amount_fen=1, kind=TransferKind.USAGE, idem=f"bench:{uuid4()}"
                ),
            )
            count += 1
        counts.put((count, time.perf_counter() - began))
    connection.close()


def populate() -> list[tuple[Account, Account]]:
    """The organisations with their accounts: (wallet, revenue) of each."""
    made = Organisation.objects.bulk_create(
        Organisation(name=f"Organisation {number}", slug=f"organisation-{number}") for number in range(ORGANISATIONS)
    )
    Account.objects.bulk_create(
        Account(organisation=organisation, kind=kind) for organisation in made for kind in ORGANISATION_KINDS
    )
    accounts = Account.objects.filter(organisation__isnull=False).order_by("pk")
    wallets = [account for account in accounts if account.kind == AccountKind.CASH]
    revenue = {each.organisation_id: each for each in accounts if each.kind == AccountKind.REVENUE}
    return [(wallet, revenue[wallet.organisation_id]) for wallet in wallets]


def meter(pairs: Sequence[tuple[Account, Account]]) -> int:
    """Ended sessions that nobody has rated, of the first organisations; how many charges they come to."""
    user, price = User.objects.get_or_create(username="benchmark")[0], price_version()
    closed = db_now().replace(minute=0, second=0, microsecond=0)
    opened = closed - timedelta(hours=HOURS)
    MeterSession.objects.bulk_create(
        MeterSession(
            organisation_id=revenue.organisation_id or NOBODY,
            user=user,
            workload_id=uuid4(),
            label="benchmark",
            price_version=price,
            opened_at=opened,
            proven_until=closed,
            rated_until=opened,
            closed_at=closed,
        )
        for _wallet, revenue in pairs[:RATED_ORGANISATIONS]
        for _session in range(SESSIONS)
    )
    return RATED_ORGANISATIONS * SESSIONS * HOURS


def price_version() -> PriceVersion:
    known = PriceVersion.objects.first()
    if known is not None:
        return known
    spec = services.PackageSpec(name_en="Benchmark", name_zh="测试", cpu_milli=1000, memory_mib=1024)
    package = services.create_package(SYSTEM, spec=spec, rate_fen_per_hour=Decimal("333.3333333333"))
    return PriceVersion.objects.get(package=package)


def rating(pairs: Sequence[tuple[Account, Account]]) -> float:
    charges = meter(pairs)
    began = time.perf_counter()
    services.rate_due(SYSTEM)
    return charges / (time.perf_counter() - began)


def one_round(server: Server, pairs: Sequence[tuple[Account, Account]], clients: Sequence[int], seconds: int) -> Round:
    figures = Round()
    for number in clients:
        tpcb = figures.tpcb[number] = pgbench(server, number, seconds, "-b", "tpcb-like", database="tpcb")
        for whom in DRAWS:
            for how, speed in (
                ("sql", by_sql(server, whom, number, seconds)),
                ("service", by_service(pairs, whom, number, seconds)),
            ):
                figures.postings[f"{how} {whom} {number}"] = speed
                figures.ratios[f"{how} {whom} {number}"] = speed / tpcb
    speed = figures.postings["rating"] = rating(pairs)
    figures.ratios["rating to 1 client"] = speed / figures.tpcb[min(clients)]
    figures.ratios["rating to the best"] = speed / max(figures.tpcb.values())
    return figures


def measure(server: Server, clients: Sequence[int], seconds: int, rounds: int) -> dict[str, Any]:
    pairs = populate()
    server.run("psql", "-q", "-c", PAIRS)
    server.run("createdb", database="tpcb")
    server.run("pgbench", "-i", "-q", "-s", str(SCALE), database="tpcb")
    found = []
    for _number in range(rounds):
        found.append(one_round(server, pairs, clients, seconds))
        print(json.dumps({"tpcb": found[-1].tpcb, "per second": found[-1].postings}), flush=True)
    if selectors.drift() or selectors.unbalanced_runs():
        raise RuntimeError("the books are wrong")
    return {
        "load": os.getloadavg()[0],
        "cores": os.cpu_count(),
        "settings": settings_of("fsync", "synchronous_commit", "shared_buffers", "server_version"),
        "tpcb_per_s": middle([each.tpcb for each in found]),
        "per_s": middle([each.postings for each in found]),
        "ratios": middle([each.ratios for each in found], 2),
    }


def middle(tables: Sequence[dict[Any, float]], places: int = 0) -> dict[str, float]:
    return {str(name): round(median(table[name] for table in tables), places) for name in tables[0]}


def missed(ratios: dict[str, float]) -> list[str]:
    """Which ratios are below their goals."""
    return [name for name, ratio in ratios.items() if ratio < goal_of(name)]


def goal_of(name: str) -> float:
    """One rater is held against one client; against many it is for information."""
    if name == "rating to the best":
        return 0.0
    how, whom = name.split()[:2]
    return GOALS["one"] if whom == "one" else GOALS[how]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with own_server(shared_buffers="1GB") as server, acting(SYSTEM):
        result = measure(server, asked.clients, asked.seconds, asked.rounds)
    result["missed"] = missed(result["ratios"])
    print(json.dumps(result) if asked.json else json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
