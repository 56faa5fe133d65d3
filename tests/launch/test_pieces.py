"""Keys, secrets, logs, accounts and restarts."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from plstack.launch import account, credentials, files, keys
from plstack.launch.account import Account
from plstack.launch.backoff import Backoff
from plstack.launch.layout import ROOT, Layout
from plstack.launch.report import Trouble
from plstack.launch.testing import keeping_bytecode

STRANGER = Account(uid=os.geteuid() + 54321, gid=os.getegid() + 54321)


def test_a_step_is_current_until_an_input_changes(tmp_path: Path) -> None:
    source, marker = tmp_path / "source", tmp_path / "keys" / "step"
    source.write_text("one")
    keys.write(marker, keys.hash_files([source]))
    assert keys.is_current(marker, keys.hash_files([source]))
    source.write_text("two")
    assert not keys.is_current(marker, keys.hash_files([source]))
    keys.drop(marker)
    assert not keys.is_current(marker, keys.hash_files([source]))


def test_a_key_knows_which_text_was_where() -> None:
    assert keys.hash_text("ab", "c") != keys.hash_text("a", "bc")


def test_a_secret_is_made_once_and_for_the_owner_only(tmp_path: Path) -> None:
    first = credentials.get_or_create(tmp_path / "secrets", "key")
    assert len(first) == 64
    assert credentials.get_or_create(tmp_path / "secrets", "key") == first
    assert credentials.get_or_create(tmp_path / "secrets", "other") != first
    assert stat.S_IMODE((tmp_path / "secrets" / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700


def test_two_starts_at_once_agree_on_a_secret(tmp_path: Path) -> None:
    call = f"get_or_create(Path({str(tmp_path)!r}), 'key')"
    code = f"from pathlib import Path; from plstack.launch.credentials import get_or_create; print({call})"
    racers = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) for _ in range(8)]
    assert len({racer.communicate()[0] for racer in racers}) == 1


def test_a_log_keeps_its_size_and_its_writer(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 2000)
        files.rotate_log(log, limit=1000)
        writer.write(b"after\n")
    assert log.read_bytes() == b"after\n"
    assert (tmp_path / "web.log.1").stat().st_size == 2000


def test_a_folder_is_reachable_only_through_open_ones(tmp_path: Path) -> None:
    inner = tmp_path / "closed" / "inner"
    inner.mkdir(parents=True)
    for folder in (inner, *inner.parents):
        if folder.stat().st_uid == os.geteuid() and folder.is_relative_to("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o711)
    assert account.can_reach(inner, STRANGER)
    (tmp_path / "closed").chmod(0o700)
    assert not account.can_reach(inner, STRANGER)


def test_servers_of_a_closed_home_live_outside_it(monkeypatch: pytest.MonkeyPatch, home: Path, tmp_path: Path) -> None:
    monkeypatch.setattr(account, "OUTSIDE", tmp_path / "outside")
    assert account.server_home(home, STRANGER) == home
    home.chmod(0o700)
    moved = account.server_home(home, STRANGER)
    assert moved.parent == tmp_path / "outside"
    assert (moved / "belongs-to").read_text() == f"{home}\n"
    assert account.server_home(home, STRANGER) == moved


def test_a_home_with_a_long_path_gets_a_short_folder_for_sockets(home: Path) -> None:
    mine = Account(os.geteuid(), os.getegid())
    assert account.socket_folder(home, "sockets", mine) == home / "sockets"
    deep = home / ("x" * 100)
    deep.mkdir()
    folder = account.socket_folder(deep, "sockets", mine)
    try:
        assert len(os.fsencode(folder / ".s.PGSQL.5432.lock")) <= 107
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        folder.rmdir()


def test_a_socket_folder_of_someone_else_is_refused(home: Path) -> None:
    (home / "sockets").mkdir()
    with pytest.raises(Trouble, match="does not belong"):
        account.private_folder(home / "sockets", STRANGER)


def test_what_dies_young_waits_longer_each_time_and_what_ran_long_does_not() -> None:
    backoff, now, delays = Backoff(), 100.0, []
    for _ in range(8):
        backoff.record_start(now)
        delays.append(backoff.record_exit(now + 1))
        now += 1
    assert delays == [0, 1, 2, 4, 8, 16, 30, 30]
    assert not backoff.is_due(now)
    assert backoff.is_due(now + 30)
    backoff.record_start(now)
    assert backoff.record_exit(now + 3600) == 0


def test_two_copies_share_nothing_but_the_checkout() -> None:
    one = Layout.from_environ({"PLSTACK_HOME": "/srv/one", "PLSTACK_PORT": "8001"})
    two = Layout.from_environ({"PLSTACK_HOME": "/srv/two", "PLSTACK_PORT": "8002"})
    assert one.root == two.root
    assert one.address != two.address
    for name in ("home", "venv", "logs", "run", "keys", "secrets"):
        assert not set(Path(getattr(one, name)).parents) & {two.home}


def test_loopback_port_8000_and_var_are_the_defaults() -> None:
    layout = Layout.from_environ({})
    assert (layout.address, layout.home) == ("http://127.0.0.1:8000", ROOT / "var")


@pytest.mark.parametrize("forbidden", ["1", ""])
def test_suites_compile_once_and_leave_forbidden_places_clean(tmp_path: Path, forbidden: str) -> None:
    home, sources = tmp_path / "home", tmp_path / "sources"
    sources.mkdir()
    (sources / "module.py").write_text("")
    told = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": forbidden}
    env = keeping_bytecode(told, home)
    subprocess.run([sys.executable, "-c", "import module"], cwd=sources, env=env, check=True)
    assert list((home if forbidden else sources).rglob("module.*.pyc"))
    assert (sources / "__pycache__").exists() != bool(forbidden)


def test_a_place_for_bytecode_that_was_asked_for_stays() -> None:
    told = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/elsewhere"}
    assert keeping_bytecode(told, Path("/home")) == {"PYTHONPYCACHEPREFIX": "/elsewhere"}
