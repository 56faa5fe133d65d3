"""The local driver when something dies, hangs, fills up or happens twice."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from apps.workloads.drivers.base import (
    CannotSee,
    Exit,
    ExitReason,
    Handle,
    IsolationLevel,
    LaunchRefused,
    LaunchRequest,
    Phase,
    Secret,
)
from apps.workloads.drivers.local import processes, shim
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.journal import Journal
from apps.workloads.drivers.local.linux import is_locked, try_lock
from apps.workloads.drivers.local.records import MARKER, RunDirectory, RunSpec, encode_spec
from apps.workloads.drivers.local.volumes import resolve
from tests.drivers.conftest import MakeKit
from tests.drivers.kit import VOLUMES, Kit, eventually, shim_of

TICKS = "import time\nn = 0\nwhile True: print('tick', n); n += 1; time.sleep(.05)"
COUNTS = "import time\nfor n in range(30): print(n); time.sleep(.05)"


@pytest.fixture(params=[IsolationLevel.L1, IsolationLevel.L0])
def kit(request: pytest.FixtureRequest, make_kit: MakeKit) -> Kit:
    return make_kit(request.param, False)


def run_directory(home: Path, handle: Handle) -> RunDirectory:
    return RunDirectory(home / "runs" / handle.ref)


def launch_in_child(home: Path, level: IsolationLevel, request: LaunchRequest) -> None:
    LocalDriver(home, level, False, volumes=VOLUMES).launch(request)


class TestADeadShim:
    def test_is_reported_as_lost_with_the_last_heartbeat(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(TICKS))
        kit.wait(handle, lambda seen: (seen.ran_for_s or 0) >= 1)
        os.kill(shim_of(handle), signal.SIGKILL)
        seen = kit.wait(handle)
        assert seen.phase is Phase.LOST
        assert seen.exit is not None
        assert seen.exit.reason is ExitReason.LOST
        assert seen.ran_for_s is not None
        assert 1 <= seen.ran_for_s < 10

    def test_takes_its_workload_with_it(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(TICKS))
        kit.wait_output(handle, "tick 3")
        os.kill(shim_of(handle), signal.SIGKILL)
        eventually(lambda: processes.marked(MARKER, handle.ref), lambda pids: not pids)

    def test_that_died_with_all_its_guards_leaves_nothing_once_it_is_called_lost(self, plain: Kit) -> None:
        orphan = "import os, time\nif os.fork() == 0:\n os.setsid()\n print('orphaned')\n while True: time.sleep(1)\n"
        handle = plain.launch(plain.python(orphan + "time.sleep(60)"))
        plain.wait_output(handle, "orphaned")
        first = shim_of(handle)
        guard = processes.descendants(first)[0]
        for pid in (first, guard):
            os.kill(pid, signal.SIGSTOP)
        for pid in (first, guard):
            os.kill(pid, signal.SIGKILL)
        assert plain.wait(handle).phase is Phase.LOST
        assert processes.marked(MARKER, handle.ref) == []

    def test_is_not_started_again(self, kit: Kit) -> None:
        request = kit.python(TICKS)
        handle = kit.launch(request)
        kit.wait_output(handle, "tick 1")
        os.kill(shim_of(handle), signal.SIGKILL)
        kit.wait(handle)
        assert kit.launch(request) == handle
        time.sleep(0.3)
        assert kit.driver.observe(handle).phase is Phase.LOST

    def test_leaves_nothing_to_do_for_a_second_shim(self, plain: Kit, home: Path) -> None:
        handle = plain.launch(plain.python("print('once')"))
        plain.wait(handle)
        run = run_directory(home, handle)
        eventually(lambda: is_locked(run.lock), lambda locked: not locked)
        record = run.exit.read_bytes()
        argv = [sys.executable, "-I", "-S", "-c", shim.BOOT, str(shim.PROJECT), str(run.path)]
        subprocess.run(argv, check=True, start_new_session=True)
        time.sleep(0.3)
        assert plain.text(handle) == "once\n"
        assert run.exit.read_bytes() == record

    def test_whose_last_heartbeat_is_unreadable_is_still_lost(self, kit: Kit, home: Path) -> None:
        handle = kit.launch(kit.python(TICKS))
        kit.wait_output(handle, "tick 1")
        os.kill(shim_of(handle), signal.SIGKILL)
        kit.wait(handle)
        run_directory(home, handle).state.write_bytes(b"")
        assert kit.driver.observe(handle).phase is Phase.LOST

    def test_has_a_whole_log(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(TICKS))
        kit.wait_output(handle, "tick 3")
        os.kill(shim_of(handle), signal.SIGKILL)
        kit.wait(handle)
        assert "tick 3" in kit.text(handle)


class TestADeadPlatform:
    def test_does_not_disturb_a_run(self, kit: Kit, home: Path) -> None:
        request = kit.python(COUNTS)
        level = kit.driver.isolation().level
        parent = multiprocessing.get_context("spawn").Process(target=_launch_and_wait, args=(home, level, request))
        parent.start()
        handle = Handle("local", request.node, str(request.attempt_id))
        eventually(lambda: run_directory(home, handle).log.exists(), bool)
        kit.wait_output(handle, "3\n")
        parent.kill()
        parent.join()
        assert kit.wait_exit(handle).succeeded
        assert kit.text(handle).split() == [str(n) for n in range(30)]

    def test_interrupted_at_its_terminal_does_not_either(self, kit: Kit, home: Path) -> None:
        request = kit.python(COUNTS)
        handle = kit.launch(request)
        assert os.getsid(shim_of(handle)) != os.getsid(0)
        os.kill(shim_of(handle), signal.SIGINT)
        os.kill(shim_of(handle), signal.SIGHUP)
        assert kit.wait_exit(handle).succeeded

    def test_that_died_before_the_shim_started_goes_on_with_the_next_launch(self, plain: Kit, home: Path) -> None:
        request = plain.python("print('at last')")
        run = RunDirectory(home / "runs" / str(request.attempt_id))
        run.path.mkdir(parents=True)
        spec = RunSpec(request, IsolationLevel.L0, None, False, str(home), mounts=resolve(request.mounts, VOLUMES))
        run.spec.write_bytes(encode_spec(spec))
        handle = Handle("local", request.node, str(request.attempt_id))
        with pytest.raises(CannotSee):
            plain.driver.observe(handle)
        assert plain.launch(request) == handle
        assert plain.wait_exit(handle).succeeded
        assert plain.text(handle) == "at last\n"

    def test_launching_from_many_processes_at_once_runs_once(self, kit: Kit, home: Path) -> None:
        request = kit.python("print('once')")
        level = kit.driver.isolation().level
        context = multiprocessing.get_context("fork")
        racers = [context.Process(target=launch_in_child, args=(home, level, request)) for _ in range(4)]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        assert [racer.exitcode for racer in racers] == [0] * 4
        handle = kit.launch(request)
        assert kit.wait_exit(handle).succeeded
        assert kit.text(handle) == "once\n"


def _launch_and_wait(home: Path, level: IsolationLevel, request: LaunchRequest) -> None:
    launch_in_child(home, level, request)
    time.sleep(60)


class TestWhatIsGone:
    def test_a_missing_run_directory_is_a_lost_attempt(self, plain: Kit, home: Path, tmp_path: Path) -> None:
        handle = plain.launch(plain.python(TICKS))
        plain.wait_output(handle, "tick 1")
        # At one stroke: the shim writes there meanwhile, and a folder that is not empty cannot be removed.
        run_directory(home, handle).path.rename(tmp_path / "gone")
        assert plain.driver.observe(handle).phase is Phase.LOST
        assert processes.marked(MARKER, handle.ref) == []

    def test_a_missing_disk_is_not(self, tmp_path: Path) -> None:
        handle = Handle("local", "node-1", "8e9c7c1c-7b3e-4f0e-9c55-0d9c6a8f7a11")
        with pytest.raises(CannotSee):
            LocalDriver(tmp_path / "unplugged", IsolationLevel.L0).observe(handle)

    def test_an_unreadable_record_is_not(self, plain: Kit, home: Path) -> None:
        handle = plain.launch(plain.request("true"))
        plain.wait(handle)
        run_directory(home, handle).exit.write_text("{")
        with pytest.raises(CannotSee):
            plain.driver.observe(handle)

    def test_a_finished_shim_has_let_go_of_its_lock(self, plain: Kit, home: Path) -> None:
        handle = plain.launch(plain.request("true"))
        plain.wait(handle)
        eventually(lambda: is_locked(run_directory(home, handle).lock), lambda locked: not locked)

    def test_nothing_is_left_of_a_forgotten_attempt(self, plain: Kit, home: Path) -> None:
        handle = plain.launch(plain.request("true"))
        plain.wait(handle)
        plain.driver.forget(handle)
        assert not [path for path in (home / "runs").iterdir() if handle.ref in path.name]


def test_the_lock_is_taken_by_one_only(tmp_path: Path) -> None:
    first = try_lock(tmp_path / "lock")
    assert first is not None
    assert try_lock(tmp_path / "lock") is None
    assert is_locked(tmp_path / "lock")
    os.close(first)
    assert not is_locked(tmp_path / "lock")


def test_the_shim_needs_nothing_but_the_standard_library() -> None:
    """It runs without site-packages, so that an upgrade of the platform cannot break it."""
    code = f"import sys; sys.path.append({str(shim.PROJECT)!r}); from apps.workloads.drivers.local import shim, init"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True)


class TestADriverThatDiesWithASecretInItsHands:
    SECRET = Secret("HF_TOKEN", variable="HF_TOKEN", value="hf_Zr4wQpL81-mmTt")
    TELLS = "import os; print(len(os.environ['HF_TOKEN']))"

    def test_before_the_shim_leaves_no_value_and_the_next_one_brings_it(self, kit: Kit, home: Path) -> None:
        request = kit.python(self.TELLS, secrets=(self.SECRET,))
        run = run_directory(home, Handle("local", "node-1", str(request.attempt_id)))
        kit.driver._create(run, request)
        assert b"hf_Zr4w" not in run.spec.read_bytes()
        handle = kit.launch(request)
        assert kit.wait_exit(handle).succeeded
        assert kit.text(handle) == "17\n"

    def test_before_the_shim_and_then_the_secret_goes_starts_nothing(self, kit: Kit, home: Path) -> None:
        request = kit.python(self.TELLS, secrets=(self.SECRET,))
        run = run_directory(home, Handle("local", "node-1", str(request.attempt_id)))
        kit.driver._create(run, request)
        with pytest.raises(LaunchRefused):
            kit.launch(replace(request, secrets=(replace(self.SECRET, value=None),)))
        assert not run.state.exists()

    def test_a_dead_shim_leaves_no_file_of_a_secret(self, kit: Kit, home: Path) -> None:
        secret = Secret("KEY", file="key", value="hf_Zr4wQpL81-mmTt")
        handle = kit.launch(kit.python(TICKS, secrets=(secret,)))
        kit.wait_output(handle, "tick 1")
        os.kill(shim_of(handle), signal.SIGKILL)
        assert kit.wait(handle).phase is Phase.LOST
        assert not run_directory(home, handle).secret_files.exists()


def test_a_shim_whose_folder_was_removed_ends_with_its_program(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "runs" / "one")
    run.path.mkdir(parents=True)
    journal = Journal(run)
    shutil.rmtree(run.path)
    ended = Exit(0, None, ExitReason.EXITED)
    journal.finish(ended)
    assert journal.ended == ended
