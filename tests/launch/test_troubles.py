"""What stops a start is said in one line, without a traceback, with a non-zero status."""

import ast
import contextlib
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from plstack.launch import control, preflight
from plstack.launch.layout import ROOT, Layout
from plstack.launch.postgres import Postgres
from plstack.launch.report import Trouble

OLD_PYTHON = """
import runpy, sys
sys.version_info = (3, 10, 4, "final", 0)
runpy.run_module("plstack.launch", run_name="__main__")
"""


def launch(shell: dict[str, str], *command: str) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-m", "plstack.launch", *(command or ("run",))]
    return subprocess.run(argv, cwd=ROOT, env=shell, capture_output=True, text=True, timeout=120)


def the_line(done: "subprocess.CompletedProcess[str]") -> str:
    """Standard error has to be exactly one line of ours."""
    lines = done.stderr.splitlines()
    assert done.returncode != 0
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("plstack: ")
    assert "Traceback" not in done.stdout
    return lines[0]


def test_a_port_in_use_is_named(shell: dict[str, str], port: int) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        line = the_line(launch(shell))
    assert f"port {port} is in use" in line
    assert "PLSTACK_PORT" in line


def test_a_port_that_a_killed_copy_still_holds_is_waited_for(port: int) -> None:
    with socket.socket() as dying:
        dying.bind(("127.0.0.1", port))
        dying.listen()
        end = threading.Timer(0.5, dying.close)
        end.start()
        preflight.check_port("127.0.0.1", port)
        assert dying.fileno() == -1
        end.join()


NAMED = "import sys; open('/proc/self/comm', 'w').write(sys.argv[1]); print('ready', flush=True); sys.stdin.read()"


@pytest.mark.parametrize(("name", "is_waited_for"), [("plstack-web", True), ("plstack-beat", False)])
def test_the_processes_of_a_killed_copy_are_waited_for_and_no_others(
    layout: Layout, name: str, is_waited_for: bool
) -> None:
    process = subprocess.Popen([sys.executable, "-c", NAMED, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    (layout.run / "processes.json").write_text(json.dumps({"supervisor": os.getpid(), "web": process.pid}))
    end = threading.Timer(0.5 if is_waited_for else 3600, process.stdin.close)
    end.start()
    preflight.await_predecessor(layout)
    assert process.stdin.closed == is_waited_for
    end.cancel()
    end.join()
    process.stdin.close()
    assert process.wait(60) == 0


def test_a_first_start_waits_for_nobody(layout: Layout) -> None:
    preflight.await_predecessor(layout, patience=0)
    (layout.run / "processes.json").write_text("")
    preflight.await_predecessor(layout, patience=0)


def test_the_gateways_port_in_use_is_named(shell: dict[str, str], gateway_port: int) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", gateway_port))
        other.listen()
        line = the_line(launch(shell))
    assert f"port {gateway_port} is in use" in line
    assert "PLSTACK_GATEWAY_PORT" in line


def test_two_that_are_to_listen_on_one_port_are_named(shell: dict[str, str], gateway_port: int) -> None:
    line = the_line(launch({**shell, "PLSTACK_SSH_PORT": str(gateway_port)}))
    assert f"PLSTACK_GATEWAY_PORT and PLSTACK_SSH_PORT are both {gateway_port}" in line


def test_the_port_for_ssh_in_use_is_named(shell: dict[str, str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", int(shell["PLSTACK_SSH_PORT"])))
        other.listen()
        line = the_line(launch(shell))
    assert f"port {shell['PLSTACK_SSH_PORT']} is in use" in line
    assert "PLSTACK_SSH_PORT" in line


@pytest.mark.parametrize(
    ("given", "port"), [({}, 9002), ({"PLSTACK_SSH_PORT": "0"}, 0), ({"PLSTACK_SSH_PORT": "22"}, 22)]
)
def test_ssh_is_two_ports_above_the_site_another_or_off(given: dict[str, str], port: int) -> None:
    assert Layout.from_environ({"PLSTACK_PORT": "9000", **given}).ssh_port == port


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1"])
def test_a_port_that_is_none_is_refused(shell: dict[str, str], port: str) -> None:
    assert "PLSTACK_PORT must be a port number" in the_line(launch(shell | {"PLSTACK_PORT": port}))


@pytest.mark.parametrize(("cores", "processes"), [(1, 1), (2, 1), (3, 1), (4, 2), (9, 4), (128, 4)])
def test_every_two_cores_have_a_web_process(monkeypatch: pytest.MonkeyPatch, cores: int, processes: int) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: set(range(cores)))
    assert Layout.from_environ({}).web_processes == processes
    assert Layout.from_environ({"PLSTACK_WEB_PROCESSES": "3"}).web_processes == 3


@pytest.mark.parametrize("count", ["0", "17", "-1", "many", "1.5"])
def test_a_number_of_web_processes_that_is_none_is_refused(shell: dict[str, str], count: str) -> None:
    line = the_line(launch(shell | {"PLSTACK_WEB_PROCESSES": count}))
    assert "PLSTACK_WEB_PROCESSES must be a number from 1 to 16" in line


def test_an_unwritable_home_is_named(shell: dict[str, str], home: Path) -> None:
    (home / "a-file").write_text("")
    line = the_line(launch(shell | {"PLSTACK_HOME": str(home / "a-file" / "inside")}))
    assert "cannot write to" in line
    assert "PLSTACK_HOME" in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_home_is_named(shell: dict[str, str], home: Path) -> None:
    home.chmod(0o555)
    assert "cannot write to" in the_line(launch(shell))


@pytest.fixture
def full_disk(home: Path) -> Iterator[Path]:
    """A real file system without a free block."""
    folder = home / "full"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a file system")
    with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_named(shell: dict[str, str], full_disk: Path) -> None:
    assert f"the disk that holds {full_disk} is full" in the_line(launch(shell | {"PLSTACK_HOME": str(full_disk)}))


def test_too_little_space_is_known_before_anything_is_fetched(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=300 * 2**20))
    preflight.check_disk(home, first=False)
    with pytest.raises(Trouble, match="300 MB free and 1500 MB are needed"):
        preflight.check_disk(home, first=True)


def test_an_old_python_is_told_so(shell: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, "-c", OLD_PYTHON], cwd=ROOT, env=shell, capture_output=True, text=True)
    assert the_line(done) == "plstack: Python 3.11 or newer is needed, this is 3.10 (set PYTHON=... for make)"


def test_an_old_python_can_at_least_parse_the_version_check() -> None:
    for name in ("__main__.py", "__init__.py", "../__init__.py"):
        ast.parse((ROOT / "plstack" / "launch" / name).read_text(), feature_version=(3, 7))


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_python_without_venv_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else found(name))
    with pytest.raises(Trouble, match="python3-venv"):
        preflight.check_python()


def test_no_network_at_the_first_start_is_said(shell: dict[str, str], home: Path) -> None:
    """An index where nobody listens, no cache to fall back on, an environment of its own."""
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0"}
    without = {name: value for name, value in shell.items() if name not in {"PLSTACK_VENV", "PIP_FIND_LINKS"}}
    done = launch(without | nowhere | {"PLSTACK_VENV": str(home / "venv"), "PIP_CONFIG_FILE": os.devnull})
    assert "package index cannot be reached" in the_line(done)


def test_a_postgres_that_does_not_start_is_quoted(layout: Layout) -> None:
    postgres = Postgres.from_layout(layout, volatile=True)
    postgres.prepare()
    (postgres.data / "postgresql.conf").write_text("shared_buffers = 'a lot'\n")
    postgres.start()
    try:
        with pytest.raises(Trouble, match=r"Postgres did not start: .*FATAL.*contains errors.*postgres\.log"):
            postgres.await_ready()
    finally:
        postgres.stop()


def test_a_cluster_of_another_version_is_left_alone(layout: Layout) -> None:
    postgres = Postgres.from_layout(layout, volatile=True)
    postgres.prepare()
    (postgres.data / "PG_VERSION").write_text("12\n")
    with pytest.raises(Trouble, match="was made by Postgres 12"):
        postgres.prepare()


def test_a_second_start_of_the_same_copy_is_refused(shell: dict[str, str], layout: Layout) -> None:
    descriptor = preflight.take_lock(layout)
    try:
        line = the_line(launch(shell))
    finally:
        os.close(descriptor)
    assert "already running" in line
    assert str(os.getpid()) in line
    assert layout.address in line


def test_stop_and_status_say_when_nothing_runs(shell: dict[str, str]) -> None:
    stopped, status = launch(shell, "stop"), launch(shell, "status")
    assert (stopped.returncode, stopped.stdout) == (0, "PLStack is not running.\n")
    assert (status.returncode, status.stdout) == (3, "PLStack is not running.\n")


def test_a_copy_that_ends_while_it_is_asked_to_has_stopped(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    descriptor = preflight.take_lock(layout)

    def ends(pid: int, number: int) -> None:
        os.close(descriptor)
        raise ProcessLookupError

    monkeypatch.setattr(os, "kill", ends)
    assert control.stop(layout) == 0
