"""The whole platform under its supervisor: first start, what dies comes back, what is stopped is gone."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from plstack.launch.layout import ROOT
from tests.launch.strangers import open_to_strangers

PATIENCE = 300.0
PASSWORD = re.compile(r"First administrator: (\S+)   password: (\S+)")


class Copy:
    """One home and whatever runs on it."""

    def __init__(self, home: Path, env: dict[str, str]) -> None:
        self.home, self.env = home, env
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> str:
        """Returns what was printed once it is ready."""
        self.process = self._launch("run")
        printed = ""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            printed += line
            if line.startswith("Stop it with"):
                return printed
        raise AssertionError(f"not ready: {printed}")

    def run(self, command: str) -> tuple[int, str]:
        done = self._launch(command)
        output, _ = done.communicate(timeout=PATIENCE)
        return done.returncode, output

    def _launch(self, command: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "plstack.launch", command],
            cwd=ROOT, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
            preexec_fn=in_the_foreground,
        )  # fmt: skip

    def pids(self) -> dict[str, int]:
        told: dict[str, int] = json.loads((self.home / "run" / "processes.json").read_text())
        return told

    def family(self) -> list[int]:
        return list(below(self.pids()["supervisor"]))

    def sign_in_page(self) -> str:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self.env['PLSTACK_PORT']}/accounts/login/", timeout=60
        ) as answer:
            return str(answer.read().decode())

    def gateway_says(self) -> str:
        port = self.env["PLSTACK_GATEWAY_PORT"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/.plstack/health", timeout=60) as answer:
            return str(answer.read().decode())

    def stop(self) -> str:
        assert self.process is not None
        self.process.send_signal(signal.SIGINT)
        output, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, output
        return output


def in_the_foreground() -> None:
    """A shell starts what it puts in the background with Ctrl-C ignored, and everything below inherits that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What reading about a process raises that ends meanwhile, as Postgres' do with each connection.
ENDED = (FileNotFoundError, ProcessLookupError)


def below(pid: int) -> Iterator[int]:
    """The process and its descendants, but for those that end while they are looked for."""
    yield pid
    with suppress(*ENDED):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(*ENDED):
                for child in (task / "children").read_text().split():
                    yield from below(int(child))


def name_of(pid: int) -> str:
    """Empty for one that has ended."""
    with suppress(*ENDED):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ENDED:
        return False


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def copy(home: Path, shell: dict[str, str]) -> Iterator[Copy]:
    it = Copy(home, {**shell, "PLSTACK_WEB_PROCESSES": "1"})  # on a machine with many cores, too
    yield it
    if it.process and it.process.poll() is None:
        it.process.kill()
        it.process.wait()


def test_a_first_start_ends_with_a_sign_in_page_and_a_password_and_stops_without_a_trace(copy: Copy) -> None:
    copy.env["PLSTACK_ADMIN_PASSWORD"] = "correct-horse-9"
    assert len(PASSWORD.findall(copy.start())) == 1
    assert 'type="password"' in copy.sign_in_page()
    eventually(lambda: lets_in(copy))
    check_closed(copy)
    check_static_files(copy)
    eventually(lambda: len(copy.pids()) == 8)  # the page does not wait for the task workers
    eventually(lambda: copy.run("status") == (0, status_of(copy)))

    code, refusal = copy.run("run")
    assert (code, len(refusal.splitlines())) == (1, 1)
    assert "already running" in refusal

    family = copy.family()
    assert len(family) > 8
    copy.stop()
    assert [pid for pid in family if alive(pid)] == []
    assert copy.run("status")[0] == 3


def check_static_files(copy: Copy) -> None:
    """They are sent compressed, and browsers keep them for good: another content has another name."""
    addresses = re.findall(r'/static/[^"]+\.[0-9a-f]{12}\.(?:css|js)', copy.sign_in_page())
    assert {address.rpartition(".")[2] for address in addresses} == {"css", "js"}
    for address in addresses:
        asked = urllib.request.Request(
            f"http://127.0.0.1:{copy.env['PLSTACK_PORT']}{address}", headers={"Accept-Encoding": "gzip"}
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            assert answer.headers["Content-Encoding"] == "gzip"
            assert "immutable" in answer.headers["Cache-Control"]


def check_closed(copy: Copy) -> None:
    """No other account of the machine may read or enter anything of a running copy, and no process shows a password."""
    if os.geteuid() == 0:
        assert open_to_strangers(copy.home) == []
    for pid in copy.family()[1:]:
        with suppress(*ENDED):
            assert b"correct-horse" not in Path(f"/proc/{pid}/environ").read_bytes(), pid


def status_of(copy: Copy) -> str:
    lines = [f"  {name:<11}{pid}\n" for name, pid in copy.pids().items()]
    return f"PLStack is running: http://127.0.0.1:{copy.env['PLSTACK_PORT']}\n" + "".join(lines)


def test_whatever_is_killed_comes_back_by_itself(copy: Copy) -> None:
    copy.start()
    eventually(lambda: len(copy.pids()) == 8)  # the page does not wait for the task workers
    before = copy.pids()
    servers = [pid for pid in below(before["supervisor"]) if name_of(pid) == "postgres"]
    for name in ("web", "gateway", "ssh", "worker", "scheduler", "files", "beat"):
        os.kill(before[name], signal.SIGKILL)
    os.kill(servers[0], signal.SIGKILL)  # the postmaster: its own children follow it
    eventually(
        lambda: set(copy.pids()) == set(before) and not set(copy.pids().values()) & set(list(before.values())[1:])
    )
    eventually(lambda: answers(copy))
    eventually(lambda: lets_in(copy))
    copy.stop()


def answers(copy: Copy) -> bool:
    try:
        return 'type="password"' in copy.sign_in_page()
    except OSError:
        return False


def lets_in(copy: Copy) -> bool:
    """Whether the gateway listens, which starts beside the pages."""
    try:
        return copy.gateway_says() == "ok\n"
    except OSError:
        return False


def test_a_killed_supervisor_takes_its_processes_along_and_the_next_start_recovers(copy: Copy) -> None:
    copy.start()
    family = copy.family()
    os.kill(copy.pids()["supervisor"], signal.SIGKILL)
    eventually(lambda: not any(map(alive, family)))
    assert PASSWORD.search(copy.start()) is None
    assert 'type="password"' in copy.sign_in_page()
    copy.stop()
