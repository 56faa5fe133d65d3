"""Closed to the machine's other accounts: folders, files, sockets, the embedded servers; also after an upgrade."""

import os
import pwd
import stat
from pathlib import Path

import pytest
import redis
from django.core.mail import EmailMessage

from apps.notifications.gateways.mail import PrivateFiles
from apps.workloads.drivers.local.accounts import FIRST_UID as FIRST_TENANT
from plstack.launch import account
from plstack.launch.account import Service, private_folder, server_account
from plstack.launch.closing import close_home
from plstack.launch.layout import Layout
from plstack.launch.postgres import Postgres
from plstack.launch.prepare import Services, process_environment
from plstack.launch.valkey import Valkey
from tests.launch.strangers import open_to_strangers

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


@as_root
def test_what_an_earlier_version_left_open_is_closed_at_the_next_start(home: Path) -> None:
    secret = home / "data" / "org" / "volume" / "a.txt"
    secret.parent.mkdir(parents=True)
    (home / "mail").mkdir()
    (home / "mail" / "reset.log").write_text("https://.../password/reset/key/")
    (home / "uids.json").write_text("{}")
    secret.write_text("of a tenant")
    for path in (home / "mail" / "reset.log", secret):
        path.chmod(0o644)
    assert {"data/org/volume/a.txt", "mail/reset.log", "uids.json"} <= set(open_to_strangers(home))
    close_home(home)
    assert open_to_strangers(home) == []
    assert stat.S_IMODE((home / "mail" / "reset.log").stat().st_mode) == 0o600
    assert stat.S_IMODE(secret.stat().st_mode) == 0o644  # the tenant's own, behind a closed door


def test_a_folder_of_somebody_else_that_is_linked_there_is_left_alone(home: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o755)
    if os.geteuid() == 0:
        os.chown(theirs, 4321, 4321)
        (home / "runtimes").symlink_to(theirs)
        close_home(home)
        assert stat.S_IMODE(theirs.stat().st_mode) == 0o755


def test_a_mail_in_a_file_is_the_platforms_alone(tmp_path: Path) -> None:
    message = EmailMessage("Reset", "key", "a@example.org", ["b@example.org"])
    PrivateFiles(file_path=tmp_path / "mail").send_messages([message])
    (sent,) = (tmp_path / "mail").iterdir()
    assert b"key" in sent.read_bytes()
    assert stat.S_IMODE(sent.stat().st_mode) == 0o600


@as_root
def test_each_server_has_an_id_that_neither_the_machine_nor_a_tenant_has(home: Path) -> None:
    both = [server_account(home, service) for service in Service]
    assert both == [server_account(home, service) for service in Service]
    assert len({one.uid for one in both}) == 2
    for one in both:
        assert 0 < one.uid < FIRST_TENANT
        with pytest.raises(KeyError):
            pwd.getpwuid(one.uid)
    assert server_account(home / "other", Service.REDIS) not in both


@as_root
def test_ids_that_are_handed_to_containers_or_do_not_exist_here_are_left_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = server_account(home, Service.POSTGRES).uid
    tables = {"/etc/subuid": [["alice", str(usual - 10), "11"]], "/proc/self/uid_map": [["0", "0", "4294967295"]]}
    monkeypatch.setattr(account, "_table", lambda path, separator=None: tables[path])
    assert server_account(home, Service.POSTGRES).uid == usual + 2
    tables["/proc/self/uid_map"] = [["0", "100000", "65536"]]
    assert server_account(home, Service.POSTGRES).uid < 65536


@as_root
def test_folders_of_the_servers_of_an_earlier_version_are_taken_over(home: Path) -> None:
    nobody, own = pwd.getpwnam("nobody"), server_account(home, Service.POSTGRES)
    (home / "postgres" / "base").mkdir(parents=True)
    (home / "postgres" / "base" / "1").write_text("rows")
    for path in (home / "postgres" / "base" / "1", home / "postgres" / "base", home / "postgres"):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    private_folder(home / "postgres", own)
    assert {path.stat().st_uid for path in (home / "postgres").rglob("*")} == {own.uid}


@as_root
def test_nobody_reaches_the_servers(layout: Layout) -> None:
    close_home(layout.home)
    cluster, store = Postgres.from_layout(layout, volatile=True), Valkey.from_layout(layout)
    cluster.prepare()
    cluster.start()
    store.start()
    try:
        cluster.await_ready()
        store.await_ready()
        assert open_to_strangers(layout.home) == []
        told = [Path(f"/proc/{one.process.pid}").stat().st_uid for one in (cluster, store) if one.process]
        assert told == [server_account(layout.home, service).uid for service in Service]
    finally:
        cluster.stop()
        store.stop()


def test_redis_wants_a_password_and_its_programs_cannot_empty_it(layout: Layout) -> None:
    store = Valkey.from_layout(layout)
    store.start()
    try:
        store.await_ready()
        with pytest.raises(redis.AuthenticationError):
            redis.Redis.from_url(f"unix://{store.socket}").ping()
        assert store.process is not None
        arguments = Path(f"/proc/{store.process.pid}/cmdline").read_bytes()
        assert (layout.secrets / "redis").read_bytes() not in arguments
        program, admin = redis.Redis.from_url(store.url), redis.Redis.from_url(store.admin_url)
        assert program.set("a", 1)
        for forbidden in ("FLUSHALL", "CONFIG GET *", "SHUTDOWN", "ACL LIST", "KEYS *"):
            with pytest.raises(redis.exceptions.NoPermissionError):
                program.execute_command(*forbidden.split())  # type: ignore[no-untyped-call]
        assert admin.flushall()
        assert program.get("a") is None
    finally:
        store.stop()


def test_what_only_the_first_start_needs_is_not_in_the_environment_of_any_process(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLSTACK_ADMIN_PASSWORD", "correct-horse-9")
    monkeypatch.setenv("DATABASE_OWNER_URL", "postgresql://owner:secret@/db")
    told = process_environment(layout, Services("postgresql://app@/db", "postgresql://owner@/db", "redis://", None))
    assert not {"PLSTACK_ADMIN_PASSWORD", "DATABASE_OWNER_URL"} & told.keys()
    assert "correct-horse-9" not in str(told)
