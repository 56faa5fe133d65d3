"""The embedded Postgres and Redis: private, limited in rights, found again after whatever ended their supervisor."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg2
import pytest
import redis

from plstack.launch import postgres as postgres_module
from plstack.launch import valkey as valkey_module
from plstack.launch.layout import ROOT, Layout
from plstack.launch.postgres import APP, OWNER, Postgres
from plstack.launch.valkey import Valkey

SUPERVISOR = """
import sys, time
from dataclasses import replace
from pathlib import Path
from plstack.launch.layout import Layout
from plstack.launch.postgres import Postgres
from plstack.launch.valkey import Valkey
layout = Layout.from_environ()
servers = Postgres.from_layout(layout, volatile=True), Valkey.from_layout(layout)
for server in servers:
    server.start()
for server in servers:
    server.await_ready()
print(*(server.process.pid for server in servers), flush=True)
time.sleep(60)
"""


@pytest.fixture
def postgres(layout: Layout) -> Iterator[Postgres]:
    cluster = Postgres.from_layout(layout)
    cluster.prepare()
    cluster.start()
    cluster.await_ready()
    yield cluster
    cluster.stop()


def ask(postgres: Postgres, role: str, sql: str) -> object:
    connection = psycopg2.connect(postgres.url(role))
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(sql)
            row = cursor.fetchone() if cursor.description else None
            return row[0] if row else None
    finally:
        connection.close()


def test_postgres_listens_on_a_private_socket_only(postgres: Postgres) -> None:
    assert ask(postgres, APP, "SHOW listen_addresses") == ""
    assert stat.S_IMODE(postgres.sockets.stat().st_mode) == 0o700
    assert postgres.process is not None
    owner = Path(f"/proc/{postgres.process.pid}").stat().st_uid
    assert owner == postgres.account.uid
    assert owner != 0


def test_the_processes_role_can_do_next_to_nothing_by_itself(postgres: Postgres) -> None:
    ask(postgres, OWNER, "CREATE TABLE secret (id int)")
    for forbidden in ("SELECT * FROM secret", "CREATE TABLE mine (id int)", "CREATE ROLE more", "DROP TABLE secret"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            ask(postgres, APP, forbidden)
    assert ask(postgres, OWNER, "SELECT rolsuper FROM pg_roles WHERE rolname = 'plstack_owner'") is False


def test_programs_that_their_account_cannot_reach_are_copied_and_still_run(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_module, "can_reach", lambda path, account: False)
    monkeypatch.setattr(valkey_module, "can_reach", lambda path, account: False)
    cluster, store = Postgres.from_layout(layout, volatile=True), Valkey.from_layout(layout)
    assert cluster.programs.is_relative_to(layout.home)
    assert store.program.is_relative_to(layout.home)
    cluster.prepare()
    cluster.start()
    store.start()
    try:
        cluster.await_ready()
        store.await_ready()
    finally:
        cluster.stop()
        store.stop()


def test_a_wrong_password_is_refused(postgres: Postgres) -> None:
    with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
        psycopg2.connect(postgres.url(APP).replace(f"{APP}:", f"{APP}:x"))


def test_data_survives_a_restart(postgres: Postgres) -> None:
    ask(postgres, OWNER, "CREATE TABLE kept AS SELECT 42 AS answer")
    postgres.stop()
    assert not postgres.is_new()
    postgres.prepare()
    postgres.start()
    postgres.await_ready()
    assert ask(postgres, OWNER, "SELECT answer FROM kept") == 42


def test_a_stale_file_with_someone_elses_process_number_harms_nobody(layout: Layout) -> None:
    """After a crash of the machine the number in postmaster.pid can belong to anything."""
    cluster = Postgres.from_layout(layout, volatile=True)
    cluster.prepare()
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        (cluster.data / "postmaster.pid").write_text(f"{bystander.pid}\n{cluster.data}\n0\n5432\n/tmp\n\n0 0\nready\n")
        cluster.prepare()
        cluster.start()
        cluster.await_ready()
        assert bystander.poll() is None
    finally:
        cluster.stop()
        bystander.kill()
        bystander.wait()


def test_a_server_that_outlived_its_supervisor_is_ended_and_replaced(postgres: Postgres, layout: Layout) -> None:
    assert postgres.process is not None
    later = Postgres.from_layout(layout)
    later.prepare()
    assert postgres.process.wait(60) == 0
    later.start()
    later.await_ready()
    later.stop()


def test_servers_end_with_a_supervisor_that_is_killed(layout: Layout, shell: dict[str, str]) -> None:
    Postgres.from_layout(layout, volatile=True).prepare()
    supervisor = subprocess.Popen([sys.executable, "-c", SUPERVISOR], cwd=ROOT, env=shell, stdout=subprocess.PIPE)
    assert supervisor.stdout is not None
    pids = list(map(int, supervisor.stdout.readline().split()))
    assert len(pids) == 2
    supervisor.kill()
    supervisor.wait()
    deadline = time.monotonic() + 60
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, pids))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # gone before it was opened, or between that and the reading
        return False


def test_redis_answers_on_its_socket_and_replaces_a_leftover(layout: Layout) -> None:
    first = Valkey.from_layout(layout)
    first.start()
    first.await_ready()
    assert redis.Redis.from_url(first.url).set("a", "1")
    second = Valkey.from_layout(layout)
    second.start()
    second.await_ready()
    try:
        assert first.process is not None
        assert first.process.wait(60) == 0
        assert redis.Redis.from_url(second.url).get("a") is None
        os.kill(second.process.pid if second.process else 0, signal.SIGKILL)
        assert second.process is not None
        second.process.wait()
        second.start()
        second.await_ready()
    finally:
        second.stop()
