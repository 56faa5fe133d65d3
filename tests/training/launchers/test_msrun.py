"""What stands in for `msrun` in each member: it starts a worker for each card, and one that fails ends the others."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from apps.training.launchers.inside import msrun

pytestmark = pytest.mark.programs
# In one piece, since they share an output.
SAYS = "import os; os.write(1, f\"{os.environ['MS_ROLE']} {os.environ.get('MS_NODE_ID', '-')}\\n\".encode())"


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(msrun.socket, "gethostbyname", lambda _name: "127.0.0.1")
    monkeypatch.setattr(msrun, "GRACE_S", 1)


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, rank: int = 0) -> int:
    monkeypatch.setenv("PLSTACK_RANK", str(rank))
    return msrun.main("2", "2", "29500", str(tmp_path), sys.executable, "-c", program)


@pytest.mark.parametrize(("rank", "said", "scheduler"), [(0, ["0", "1"], "MS_SCHED -\n"), (1, ["2", "3"], "")])
def test_a_member_starts_its_workers_and_the_first_one_the_scheduler_beside_them(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    rank: int,
    said: list[str],
    scheduler: str,
) -> None:
    assert run(monkeypatch, tmp_path, SAYS, rank) == 0
    assert sorted(capfd.readouterr().out.splitlines()) == [f"MS_WORKER {number}" for number in said]
    log = tmp_path / "scheduler.log"
    assert (log.read_text() if log.exists() else "") == scheduler


def test_a_worker_that_fails_ends_the_others_with_its_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fails = "import os, sys, time; sys.exit(7) if os.environ.get('MS_NODE_ID') == '1' else time.sleep(300)"
    began = time.monotonic()
    assert run(monkeypatch, tmp_path, fails) == 7
    assert time.monotonic() - began < 60


def test_one_that_is_killed_counts_as_a_shell_would_count_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert run(monkeypatch, tmp_path, "import os; os.kill(os.getpid(), 9)") == 128 + 9


def test_a_program_that_is_not_there_is_told_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLSTACK_RANK", "1")
    assert msrun.main("2", "1", "29500", str(tmp_path), "no-such-program") == msrun.NOT_FOUND
    assert "no-such-program: No such file or directory" in capfd.readouterr().err


def test_asked_to_stop_it_asks_all_that_it_started(tmp_path: Path) -> None:
    saves = (
        "import os, signal, sys, time; signal.signal(15, lambda *_: sys.exit(0)); os.write(1, b'on\\n'); time.sleep(99)"
    )
    named = "import runpy, socket, sys; socket.gethostbyname = lambda _name: '127.0.0.1'"
    starts = f"{named}; sys.argv[0] = {msrun.__file__!r}; runpy.run_path(sys.argv[0], run_name='__main__')"
    words = ["2", "2", "29500", str(tmp_path), sys.executable, "-c", saves]
    env = {**os.environ, "PLSTACK_RANK": "1"}
    process = subprocess.Popen([sys.executable, "-c", starts, *words], stdout=subprocess.PIPE, env=env)
    assert process.stdout is not None
    assert [process.stdout.readline() for _worker in range(2)] == [b"on\n", b"on\n"]
    process.terminate()
    assert process.wait(60) == 0
