"""How long Ctrl K takes on the server while somebody types, database included.

    python -m benchmarks.search [--workloads 100000] [--people 10000] [--repeats 5] [--json]

In a scratch database (plstack_search) beside that of DATABASE_OWNER_URL, made for this and dropped at the end: 500
organisations, the people spread over them, and the workloads, each with its training run, copied by SQL from ones that
services made. Half of the names are Chinese, half are Latin with numbers in them; the tables are analysed as autovacuum
would have done. Each query is asked through Django's test client (everything but the server's socket) of the console,
as an administrator who may see all, and of the portal, as an administrator of one organisation with a fifth of all
workloads. `first`: with what this process and the database's connection have not prepared yet (pinyin, plans, compiled
patterns); `least` and `median` of the repeats after it, and `cpu`, the median CPU time of this process. Milliseconds.
On a busy machine the least and the CPU time say more.
"""

import argparse
import json
import logging
import os
import time
from pathlib import Path
from statistics import median
from typing import Any

import django
import structlog

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.test")
django.setup()

from django.db import connection  # noqa: E402  after set-up
from django.test import Client  # noqa: E402

from apps.common.actor import Channel, system_actor  # noqa: E402
from apps.common.scoping import acting  # noqa: E402
from apps.tenants.choices import Role  # noqa: E402
from apps.training import services as training  # noqa: E402
from apps.training.models import Entry  # noqa: E402
from tests.builders import World, make_member, make_staff, make_world, signed_in  # noqa: E402

GOAL_MS = 150
COLUMNS = {"first": 8, "least": 8, "median": 8, "cpu": 8, "database": 10}
ORGANISATIONS = 500
QUERIES = {
    "one letter": "r",
    "a common word": "resnet",
    "an old number": "run-00017",
    "nothing": "qqxxyyzz",
    "nothing, as pinyin": "zhuangshuang",
    "characters": "语音识别",
    "pinyin": "yuyinshibie",
    "three initials": "yys",
    "six initials": "hdyjyz",
    "two words": "resnet imagenet",
    "a person": "user09876",
    "a ledger entry": "T-1",
}
HAN = "训练模型实验数据图像分类检测语音识别大语言微调评估华东研究院中国科学北京上海视觉处理推荐强化学习测试"
# A name for row `i`: eight characters and a number, or words and a number.
NAME = f"""
CASE WHEN i % 2 = 0 THEN
    (SELECT string_agg(substr('{HAN}', 1 + (i * 7919 + j * 104729 + i / 97 * j) % {len(HAN)}, 1), '')
     FROM generate_series(1, 8) j) || '-' || i
ELSE 'run-' || lpad(i::text, 6, '0') || '-resnet' || (i % 150) || '-imagenet' END
"""  # noqa: S608  of our own numbers and characters


def fill(workloads: int, people: int) -> None:
    """Copies of the first organisation, person, workload and run, with names and owners of their own."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # no triggers: these are copies of what they let in
        _copy(cursor, "tenants_organisation", ORGANISATIONS, {"name": NAME, "slug": "'org-' || i"})
        _copy(
            cursor,
            "tenants_user",
            people,
            {
                "username": "'user' || lpad(i::text, 5, '0')",
                "name": NAME,
                "email": "'user' || i || '@example.com'",
            },
        )
        _copy(cursor, "tenants_membership", people, {"user_id": "i + 1000", "organisation_id": _uuid("organisation")})
        # A fifth of everything is the organisation's whose administrator asks.
        whose = f"CASE WHEN i % 5 = 0 THEN o.organisation_id ELSE {_uuid('organisation')} END"
        shared = {"organisation_id": whose, "owner_id": f"1000 + i % {people}", "name": f"left({NAME}, 80)"}
        when = {"created_at": "now() - i * interval '90 seconds'"}
        _copy(cursor, "workloads_workload", workloads, {**shared, **when, "submit_key": "'key-' || i"})
        run = {**shared, **when, "workload_id": _uuid("workload"), "family": _uuid("family")}
        _copy(cursor, "training_run", workloads, run)
        cursor.execute("SET session_replication_role = origin")
        cursor.execute("VACUUM ANALYZE")


def _uuid(kind: str) -> str:
    return f"md5('{kind}' || {f'i % {ORGANISATIONS}' if kind == 'organisation' else 'i'})::uuid"


def _copy(cursor: Any, table: str, count: int, other: dict[str, str]) -> None:
    """`count` copies of the table's oldest row; `other`: columns and their SQL, of `i`."""
    cursor.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND is_generated = 'NEVER'", [table]
    )
    columns = [row[0] for row in cursor.fetchall()]
    keys = {"tenants_organisation": _uuid("organisation"), "tenants_user": "i + 1000", "tenants_membership": "i + 1000"}
    values = {"id": keys.get(table, _uuid(table.partition("_")[2])), **other}
    chosen = ", ".join(values.get(column, f"o.{column}") for column in columns)
    names = ", ".join(columns)
    cursor.execute(
        f"INSERT INTO {table} ({names}) SELECT {chosen} FROM (SELECT * FROM {table} ORDER BY id LIMIT 1) o, "  # noqa: S608
        f"generate_series(0, {count} - 1) i"
    )


def backend() -> int:
    """The process that answers this connection."""
    with connection.cursor() as cursor:
        cursor.execute("SET max_parallel_workers_per_gather = 0")
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def cpu_ms(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def timed(client: Client, url: str, typed: str) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    response = client.get(url, {"q": typed})
    spent = (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000
    if response.status_code != 200:
        raise RuntimeError(f"{url}?q={typed} answers {response.status_code}")
    return spent


def measure(client: Client, url: str, repeats: int) -> dict[str, dict[str, float]]:
    found, pid = {}, backend()
    for name, typed in QUERIES.items():
        first, before = timed(client, url, typed), cpu_ms(pid)
        wall, cpu = zip(*(timed(client, url, typed) for _repeat in range(repeats)), strict=True)
        database = (cpu_ms(pid) - before) / repeats
        times = {"first": first[0], "least": min(wall), "median": median(wall), "cpu": median(cpu)}
        found[name] = {**times, "database": database}
    return {name: {what: round(ms, 1) for what, ms in times.items()} for name, times in found.items()}


def clients() -> dict[str, tuple[Client, str]]:
    with acting(system_actor(Channel.COMMAND)):
        world = make_world()
        staff, admin = make_staff(), make_member(world.organisation, "dora", Role.ADMIN)
    submit(world)
    return {"console": (signed_in(staff), "/console/search/"), "portal": (signed_in(admin), "/search/")}


def submit(world: World) -> None:
    """The run of which all others are copies."""
    request = training.Request(
        name="first",
        image_id=world.image.pk,
        package_id=world.package.pk,
        entry=Entry.PYTHON,
        script="train.py",
        key="first",
        text="print()\n",
        note="",
    )
    with acting(world.actor) as actor:
        training.submit(actor, request)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workloads", type=int, default=100_000)
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    logging.disable(logging.INFO)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    connection.settings_dict["TEST"]["NAME"] = "plstack_search"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        asking = clients()
        fill(asked.workloads, asked.people)
        result = {name: measure(client, url, asked.repeats) for name, (client, url) in asking.items()}
    finally:
        connection.creation.destroy_test_db("", verbosity=0)
    print(json.dumps(result) if asked.json else _table(result))


def _table(result: dict[str, dict[str, dict[str, float]]]) -> str:
    lines = [f"{'':10}{'query':22}{'first':>8}{'least':>8}{'median':>8}{'cpu':>8}{'database':>10}   goal: {GOAL_MS} ms"]
    for where, queries in result.items():
        for name, times in queries.items():
            figures = "".join(f"{times[what]:{width}.1f}" for what, width in COLUMNS.items())
            lines.append(f"{where:10}{name:22}{figures}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
