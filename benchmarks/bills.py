"""Pages of bills over ten million charges, and the close of a month over all of them.

    python -m benchmarks.bills [--charges 10000000] [--organisations 200] [--views 15] [--json]

The server is the platform's own Postgres in a temporary folder with the platform's settings, `shared_buffers` included;
only while the rows are put there by plain SQL, triggers and keys are off and nothing is synced. The rows are what
ratings of October 2026 would have left: a hundred sessions of each organisation, rated each hour, one run and one
transfer for all of an organisation's sessions, one charge and one slice for each session and hour.

The kept sums of the charges are filled by the trigger's own statements, as the triggers are off.

`close` is `close_month` over all organisations: seconds, the statements that it built, and how far this process' peak
memory rose above what it was before. Then pages, with Django's test client (everything but the server's socket):
milliseconds of the first view, the least and the median of the others, and the CPU time that this process spent on one.
On a busy machine the least and the CPU time say more. `consumption` is the console's page over the month, a year and
one day, its chart and its check against the ledger, and with one organisation's runs open; `own` is what an
organisation's administrator sees. At the end the sum of all statements, and the kept sums, must be those of charges.
"""

import argparse
import json
import logging
import os
import resource
import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from statistics import median
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.test")
django.setup()

from django.db import connection  # noqa: E402  after set-up
from django.db.models import Sum  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from apps.billing import services  # noqa: E402
from apps.billing.choices import ORGANISATION_KINDS  # noqa: E402
from apps.billing.models import Account, MeterSession, Statement, StatementLine  # noqa: E402
from apps.billing.months import Month  # noqa: E402
from apps.billing.selectors import day_drift, session_drift  # noqa: E402
from apps.billing.statements.closing import close_month  # noqa: E402
from apps.common.actor import Channel, system_actor  # noqa: E402
from apps.common.migration_operations import sql_file  # noqa: E402
from apps.common.scoping import acting  # noqa: E402
from apps.tenants.choices import PlatformRole, Role  # noqa: E402
from apps.tenants.models import Membership, Organisation, User  # noqa: E402
from apps.tenants.services import assign_platform_role  # noqa: E402
from benchmarks.servers import Server, own_server, settings_of  # noqa: E402

SESSIONS, GOAL_MS = 100, 300
GOALS = "a bill", "consumption of a month", "consumption of a year"
SYSTEM = system_actor(Channel.COMMAND)
STAFF, BACKEND = "staff", "allauth.account.auth_backends.AuthenticationBackend"
NOW = datetime(2026, 11, 5, tzinfo=UTC)
# Hours are counted from the month's first in the billing zone.
BEGIN = """
SET session_replication_role = replica;
CREATE TEMPORARY TABLE hour AS SELECT number, timestamptz '2026-09-30 16:00+00' + number * interval '1 hour' AS at
    FROM generate_series(0, {hours} - 1) AS number;
CREATE TEMPORARY TABLE lab AS SELECT cash.organisation_id AS organisation, cash.id AS cash, revenue.id AS revenue,
    (SELECT user_id FROM tenants_membership WHERE organisation_id = cash.organisation_id LIMIT 1) AS person
    FROM billing_account cash JOIN billing_account revenue USING (organisation_id)
    WHERE cash.kind = 'cash' AND revenue.kind = 'revenue';
CREATE TEMPORARY TABLE price AS SELECT id, rate_fen_per_hour AS rate, row_number() OVER (ORDER BY id) - 1 AS number
    FROM billing_priceversion;
INSERT INTO billing_metersession (id, organisation_id, user_id, workload_id, label, price_version_id, replicas,
    opened_at, proven_until, rated_until, closed_at, settled)
SELECT gen_random_uuid(), organisation, person, gen_random_uuid(), 'run ' || session, price.id, 1, first.at,
    last.at + interval '1 hour', last.at + interval '1 hour', last.at + interval '1 hour', true
FROM lab, generate_series(1, {sessions}) AS session JOIN price ON price.number = session % {prices},
    (SELECT min(at) AS at FROM hour) AS first, (SELECT max(at) AS at FROM hour) AS last;
CREATE TEMPORARY TABLE bill AS SELECT organisation_id AS organisation, sum(rate)::bigint AS fen
    FROM billing_metersession JOIN price ON price.id = price_version_id GROUP BY 1;
INSERT INTO billing_transfer (debit_id, credit_id, organisation_id, amount_fen, kind, idem, ref, note, actor_label, at)
SELECT cash, revenue, organisation, fen, 'usage', 'rating:' || organisation || ':' || number + 1, '', '', 'PLStack',
    at + interval '61 minutes'
FROM lab JOIN bill USING (organisation), hour;
INSERT INTO billing_ratingrun (organisation_id, number, carried_in, exact_fen, amount_fen, carried_out, transfer_id, at)
SELECT organisation_id, split_part(idem, ':', 3)::bigint, 0, amount_fen, amount_fen, 0, id, at FROM billing_transfer;
UPDATE billing_account SET balance_fen = moved.fen FROM (
    SELECT account, sum(fen) AS fen FROM (
        SELECT debit_id AS account, -amount_fen AS fen FROM billing_transfer
        UNION ALL SELECT credit_id, amount_fen FROM billing_transfer) AS sides GROUP BY 1) AS moved
WHERE moved.account = billing_account.id;
"""
CHARGES = """
SET session_replication_role = replica;
INSERT INTO billing_usageslice (session_id, organisation_id, start, "end", prev_end)
SELECT session.id, session.organisation_id, run.at - interval '61 minutes', run.at - interval '1 minute',
    CASE WHEN run.number > 1 THEN run.at - interval '61 minutes' END
FROM billing_ratingrun AS run JOIN billing_metersession AS session USING (organisation_id)
WHERE run.number BETWEEN {first} AND {last};
INSERT INTO billing_charge (run_id, organisation_id, session_id, slice_start, start, "end", revision, period, day,
    price_version_id, replicas, rate, seconds, exact_fen, amount_fen)
SELECT run.id, session.organisation_id, session.id, run.at - interval '61 minutes', run.at - interval '61 minutes',
    run.at - interval '1 minute', 0, '2026-10', ((run.at - interval '61 minutes') AT TIME ZONE 'Asia/Shanghai')::date,
    price.id, 1, price.rate_fen_per_hour, 3600, price.rate_fen_per_hour, price.rate_fen_per_hour::bigint
FROM billing_ratingrun AS run JOIN billing_metersession AS session USING (organisation_id)
    JOIN billing_priceversion AS price ON price.id = session.price_version_id
WHERE run.number BETWEEN {first} AND {last};
"""
HOURS_AT_ONCE = 24
INDEXES = """SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid IN ('billing_charge'::regclass, 'billing_usageslice'::regclass) AND NOT indisunique"""


def people(organisations: int) -> None:
    """Organisations, each with an administrator and accounts; ten packages; somebody of the platform."""
    made = Organisation.objects.bulk_create(
        Organisation(name=f"Organisation {number}", slug=f"organisation-{number}") for number in range(organisations)
    )
    users = User.objects.bulk_create(User(username=f"person-{number}") for number in range(organisations))
    Membership.objects.bulk_create(
        Membership(organisation=organisation, user=user, role=Role.ADMIN)
        for organisation, user in zip(made, users, strict=True)
    )
    Account.objects.bulk_create(
        Account(organisation=organisation, kind=kind) for organisation in made for kind in ORGANISATION_KINDS
    )
    for number in range(10):
        spec = services.PackageSpec(name_en=f"P{number}", name_zh=f"包{number}", cpu_milli=1000, memory_mib=1024)
        services.create_package(SYSTEM, spec=spec, rate_fen_per_hour=Decimal(100 + number))
    assign_platform_role(SYSTEM, user=User.objects.create(username=STAFF), role=PlatformRole.SUPER)


def populate(server: Server, charges: int, organisations: int) -> int:
    """The month's rows; how many charges."""
    people(organisations)
    hours = min(round(charges / organisations / SESSIONS), 31 * 24)
    server.run("psql", "-q", "-v", "ON_ERROR_STOP=1", "-c", BEGIN.format(hours=hours, sessions=SESSIONS, prices=10))
    with_indexes_off(server, lambda: fill(server, hours))
    server.run("psql", "-q", "-v", "ON_ERROR_STOP=1", "-c", kept_sums())
    server.run("vacuumdb", "-q", "--analyze")
    return hours * organisations * SESSIONS


def fill(server: Server, hours: int) -> None:
    for first in range(1, hours + 1, HOURS_AT_ONCE):
        text = CHARGES.format(first=first, last=min(first + HOURS_AT_ONCE - 1, hours))
        server.run("psql", "-q", "-v", "ON_ERROR_STOP=1", "-c", text)


def kept_sums() -> str:
    """What the trigger does with a statement's new charges, done with all of them."""
    body = sql_file("billing", "charge_sums").read_text().partition("BEGIN\n")[2].partition("RETURN NULL;")[0]
    return body.replace("FROM added", "FROM billing_charge")


def with_indexes_off(server: Server, work: Callable[[], None]) -> None:
    """Made anew afterwards: filling them row by row takes several times as long."""
    with connection.cursor() as cursor:
        cursor.execute(INDEXES)
        found = cursor.fetchall()
    server.run("psql", "-q", "-c", "".join(f"DROP INDEX {name};" for name, _definition in found))
    work()
    server.run("psql", "-q", "-c", "".join(f"{definition};" for _name, definition in found))


def close() -> dict[str, float]:
    """Draft statements of all organisations."""
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    count = close_month(SYSTEM, month=Month.parse("2026-10"), now=NOW)
    rose = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"seconds": round(time.perf_counter() - began, 1), "statements": count, "memory_rose_mib": round(rose, 1)}


def pages() -> dict[str, str]:
    """Addresses that finance staff open, by name."""
    statement = Statement.objects.order_by("pk")[0]
    line = StatementLine.objects.filter(statement=statement).order_by("position")[0]
    key, month = {"statement_id": statement.pk}, "?since=2026-10-01&until=2026-10-31"
    session = MeterSession.objects.filter(organisation_id=statement.organisation_id).order_by("pk")[0]
    consumption, opened = reverse("console:consumption"), f"&organisation={statement.organisation_id}"
    return {
        "statements of the month": reverse("console:statements"),
        "a bill": reverse("console:statement", kwargs=key),
        "the charges of a bill's line": reverse("console:statement_line", kwargs={**key, "position": line.position}),
        "consumption of a month": consumption + month,
        "consumption of a year": f"{consumption}?since=2025-11-01&until=2026-10-31",
        "consumption of a day": f"{consumption}?since=2026-10-20&until=2026-10-20",
        "consumption, one run open": f"{consumption}{month}{opened}&workload={session.workload_id}",
        "consumption, words": f"{consumption}{month}&q=organisation-17",
        "the chart": reverse("console:consumption_days") + month,
        "the check against the ledger": reverse("console:consumption_agreement") + month,
        "revenue by organisation and package": reverse("console:revenue_parts") + "?period=2026-10",
    }


def own_pages() -> dict[str, str]:
    """Addresses that an organisation's administrator opens, by name."""
    month = "?since=2026-10-01&until=2026-10-31"
    return {
        "own consumption": reverse("billing:consumption") + month,
        "own consumption, dearest first": reverse("billing:consumption") + month + "&order=amount",
        "own costs": reverse("billing:consumption_costs") + month,
    }


def signed_in(username: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=username), backend=BACKEND)
    return client


def view(client: Client, address: str, views: int) -> dict[str, float]:
    times, cpu = [], []
    for _number in range(views):
        wall, own = time.perf_counter(), time.process_time()
        answer = client.get(address)
        times.append((time.perf_counter() - wall) * 1000)
        cpu.append((time.process_time() - own) * 1000)
        if answer.status_code != 200:
            raise RuntimeError(f"{address}: {answer.status_code}")
    return {
        "first_ms": round(times[0]),
        "least_ms": round(min(times[1:])),
        "p50_ms": round(median(times[1:])),
        "cpu_p50_ms": round(median(cpu[1:])),
    }


def check(charges: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), sum(amount_fen) FROM billing_charge")
        count, fen = cursor.fetchone()
    if (count, fen) != (charges, Statement.objects.aggregate(fen=Sum("total_fen"))["fen"]):
        raise RuntimeError("the statements do not add up to the charges")
    if session_drift() or day_drift():
        raise RuntimeError("the kept sums are not those of the charges")


def measure(server: Server, charges: int, organisations: int, views: int) -> dict[str, Any]:
    began = time.perf_counter()
    count = populate(server, charges, organisations)
    filled, closed = time.perf_counter() - began, close()
    staff, administrator = signed_in(STAFF), signed_in("person-0")
    result = {
        "charges": count,
        "organisations": organisations,
        "load": os.getloadavg()[0],
        "settings": settings_of("shared_buffers", "server_version"),
        "filled_s": round(filled),
        "close": closed,
        "pages": {name: view(staff, address, views) for name, address in pages().items()}
        | {name: view(administrator, address, views) for name, address in own_pages().items()},
    }
    check(count)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--charges", type=int, default=10_000_000)
    parser.add_argument("--organisations", type=int, default=200)
    parser.add_argument("--views", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    logging.disable(logging.INFO)
    with own_server(fsync="off", max_wal_size="4GB") as server, acting(SYSTEM):
        result = measure(server, asked.charges, asked.organisations, asked.views)
    result["missed"] = [name for name in GOALS if result["pages"][name]["p50_ms"] > GOAL_MS]
    print(json.dumps(result) if asked.json else json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
