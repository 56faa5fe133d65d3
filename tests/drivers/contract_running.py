"""Contract: from launch to the end, whatever that is."""

import json
import signal
import time

from apps.workloads.drivers.base import (
    Driver,
    Exit,
    ExitReason,
    Handle,
    Phase,
)
from apps.workloads.drivers.capabilities import CleanupMixin, MetricsMixin
from tests.drivers.kit import Kit

SAVES_WHEN_STOPPED = """
import signal, sys, time
def save(*_):
    print("saved")
    sys.exit(3)
signal.signal(signal.SIGTERM, save)
print("ready")
time.sleep(60)
"""
SAVES_SLOWLY = """
import signal, sys, time
def save(*_):
    time.sleep(0.5)
    print("saved")
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("ready")
time.sleep(60)
"""
IGNORES_STOP = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready")
time.sleep(600)
"""
LEAVES_A_DAEMON = """
import os, time
mark = os.environ["PLSTACK_OUTPUT"] + "/started"
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    open(mark, "w").close()
    while True:
        time.sleep(0.1)
        print("alive")
while not os.path.exists(mark):
    time.sleep(0.05)
"""
GROWS = """
parts = []
for _ in range(64):
    parts.append(b"x" * 2**24)
import time
time.sleep(60)
"""


class RunningContract:
    def test_it_is_a_driver(self, kit: Kit) -> None:
        driver: Driver = kit.driver
        assert driver.name
        assert isinstance(driver, MetricsMixin)
        assert isinstance(driver, CleanupMixin)

    def test_a_program_that_ends_well(self, kit: Kit) -> None:
        handle = kit.launch(kit.python("print('hello')"))
        seen = kit.wait(handle)
        assert seen.exit == Exit(0, None, ExitReason.EXITED)
        assert seen.exit.succeeded
        assert kit.text(handle) == "hello\n"
        assert [step.name for step in seen.steps] == [Phase.IMAGE, Phase.MOUNT]
        assert all(step.done and step.seconds >= 0 for step in seen.steps)
        assert seen.ran_for_s is not None

    def test_the_exit_code_and_the_last_lines_are_told(self, kit: Kit) -> None:
        ended, _ = kit.run(kit.python("import sys; print('no such file'); sys.exit(137)"))
        assert (ended.code, ended.signal, ended.reason) == (137, None, ExitReason.EXITED)
        assert "no such file" in ended.detail

    def test_a_signal_is_no_exit_code(self, kit: Kit) -> None:
        ended, _ = kit.run(kit.python("import os; os.kill(os.getpid(), 11)"))
        assert (ended.code, ended.signal, ended.reason) == (None, signal.SIGSEGV, ExitReason.SIGNALLED)

    def test_launching_twice_runs_once(self, kit: Kit) -> None:
        request = kit.python("print('once', flush=True); import time; time.sleep(.4)")
        handles = {kit.launch(request) for _ in range(3)}
        assert len(handles) == 1
        handle = handles.pop()
        kit.wait(handle)
        assert kit.launch(request) == handle
        time.sleep(0.3)
        assert kit.text(handle) == "once\n"
        assert kit.driver.observe(handle).exit.succeeded

    def test_a_handle_survives_json(self, kit: Kit) -> None:
        handle = kit.launch(kit.request("true"))
        kit.wait(handle)
        again = Handle.from_dict(json.loads(json.dumps(handle.as_dict())))
        assert kit.driver.observe(again) == kit.driver.observe(handle)

    def test_arguments_and_variables_arrive_unchanged(self, kit: Kit) -> None:
        awkward = ["two words", "'single' \"double\"", "中文 ✓", "$HOME `id` ; rm -rf /", "", "new\nline", "\\back"]
        source = "import json, os, sys; print(json.dumps([sys.argv[1:], os.environ['AWKWARD']]))"
        for_all = "|".join(awkward)
        ended, text = kit.run(kit.python(source, *awkward, env={"AWKWARD": for_all}))
        assert ended.succeeded, ended
        assert json.loads(text) == [awkward, for_all]

    def test_mounts_are_found_under_their_targets(self, kit: Kit) -> None:
        (kit.code / "train.py").write_text(
            "import pathlib, sys\npathlib.Path(sys.argv[1]).write_text(pathlib.Path('data.txt').read_text())\n"
        )
        (kit.code / "data.txt").write_text("42")
        request = kit.request("python", "/workspace/code/train.py", "/workspace/output/result")
        ended, text = kit.run(request)
        assert ended.succeeded, text
        assert (kit.output / "result").read_text() == "42"

    def test_mounts_are_told_in_variables(self, kit: Kit) -> None:
        source = "import os; open(os.environ['PLSTACK_OUTPUT'] + '/told', 'w').write(os.environ['PLSTACK_CODE'])"
        ended, text = kit.run(kit.python(source))
        assert ended.succeeded, text
        assert (kit.output / "told").exists()

    def test_a_working_directory_outside_all_mounts_is_writable(self, kit: Kit) -> None:
        ended, text = kit.run(kit.python("open('x', 'w'); import os; print(os.listdir('code'))", workdir="/workspace"))
        assert ended.succeeded, text

    def test_a_program_that_does_not_exist(self, kit: Kit) -> None:
        ended, _ = kit.run(kit.request("no-such-program"))
        assert (ended.code, ended.signal, ended.reason) == (None, None, ExitReason.START_FAILED)
        assert "no-such-program" in ended.detail

    def test_a_mount_that_does_not_exist(self, kit: Kit) -> None:
        missing = kit.mount(kit.output / "missing", "/workspace/data")
        handle = kit.launch(kit.request("true", mounts=(missing,), workdir="/workspace/data"))
        seen = kit.wait(handle)
        assert seen.exit is not None
        assert seen.exit.reason is ExitReason.MOUNT_FAILED
        assert "/workspace/data" in seen.exit.detail
        assert str(kit.output) not in seen.exit.detail
        assert seen.ran_for_s is None

    def test_too_much_memory_is_named_as_such(self, kit: Kit) -> None:
        ended, _ = kit.run(kit.python(GROWS, memory_mib=128))
        assert ended.reason is ExitReason.OOM
        assert not ended.succeeded

    def test_stop_lets_it_finish_within_the_grace(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(SAVES_WHEN_STOPPED))
        kit.wait_output(handle, "ready")
        kit.driver.stop(handle, 20)
        kit.driver.stop(handle, 20)
        ended = kit.wait_exit(handle)
        assert (ended.code, ended.reason) == (3, ExitReason.STOPPED)
        assert "saved" in kit.text(handle)
        kit.driver.stop(handle, 0)
        assert kit.driver.observe(handle).exit == ended

    def test_stop_reaches_children_of_a_shell_that_does_not_wait(self, kit: Kit) -> None:
        handle = kit.launch(kit.request("sh", "-c", 'python -c "$0"; true', SAVES_SLOWLY))
        kit.wait_output(handle, "ready")
        kit.driver.stop(handle, 20)
        ended = kit.wait_exit(handle)
        assert ended.reason is ExitReason.STOPPED
        assert "saved" in kit.text(handle)

    def test_stop_kills_after_the_grace(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(IGNORES_STOP))
        kit.wait_output(handle, "ready")
        began = time.monotonic()
        kit.driver.stop(handle, 1)
        assert kit.wait_exit(handle).reason is ExitReason.STOPPED
        assert time.monotonic() - began > 0.9

    def test_a_second_stop_may_shorten_the_grace(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(IGNORES_STOP))
        kit.wait_output(handle, "ready")
        kit.driver.stop(handle, 3600)
        kit.driver.stop(handle, 0)
        kit.wait(handle)

    def test_what_it_leaves_running_ends_with_it(self, kit: Kit) -> None:
        handle = kit.launch(kit.python(LEAVES_A_DAEMON))
        assert kit.wait_exit(handle).succeeded
        before = kit.log(handle)
        time.sleep(0.5)
        assert kit.log(handle) == before
