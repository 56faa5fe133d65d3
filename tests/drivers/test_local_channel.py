"""The channel of real runs on this machine: killed, stopped, older, besieged, and out of the program's reach."""

import json
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Barrier
from unittest.mock import patch

import pytest

from apps.workloads.drivers.base import Exit, ExitReason, Handle, IsolationLevel, Observation, Phase
from apps.workloads.drivers.capabilities import Notice
from apps.workloads.drivers.channel import frames, greeting, server
from apps.workloads.drivers.channel.client import ChannelGone, Client
from apps.workloads.drivers.local import channel, preemption_notice
from apps.workloads.drivers.local.access import FolderAccess
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.environment import NOTICE_FILE
from apps.workloads.drivers.local.records import RunDirectory
from tests.drivers.conftest import MakeKit
from tests.drivers.kit import MIB, VOLUMES, Kit, eventually
from tests.drivers.test_local_faults import run_directory, shim_of

TICKS = "import time\nn = 0\nwhile True: print('tick', n); n += 1; time.sleep(.05)"
SAVES = """
import os, time
folder = os.environ["PLSTACK_CHECKPOINTS"]
os.makedirs(folder, exist_ok=True)
open(folder + "/1", "w").write("x")
print("saved")
time.sleep(120)
"""
WHERE = {"PLSTACK_CHECKPOINTS": "/workspace/output/checkpoints"}
NOTICE = Notice("guarantee", 60.0, 30.0)


@pytest.fixture(params=[IsolationLevel.L1, IsolationLevel.L0])
def kit(request: pytest.FixtureRequest, make_kit: MakeKit) -> Kit:
    return make_kit(request.param, False)


def running(kit: Kit, source: str = TICKS, until: str = "tick 1") -> Handle:
    handle = kit.launch(kit.python(source, env=WHERE))
    kit.wait_output(handle, until)
    return handle


def client_of(run: RunDirectory) -> Client:
    return Client(lambda: channel.dial(run.channel), answer_s=60)


def end(kit: Kit, handle: Handle) -> Exit:
    kit.driver.stop(handle, 0)
    return kit.wait_exit(handle)


def test_it_says_what_the_records_say(kit: Kit, home: Path) -> None:
    handle = running(kit, SAVES, "saved")
    run = run_directory(home, handle)
    client = client_of(run)
    seen = client.observe()
    assert seen.phase is Phase.RUNNING
    assert seen.checkpoint_age_s is not None
    assert seen.checkpoint_age_s < 30
    by_file = kit.driver.logs(handle, 0, MIB)
    assert client.logs(0, MIB) == by_file
    assert not by_file.complete
    client.tell(NOTICE)
    assert json.loads((run.notice / NOTICE_FILE).read_text())["reason"] == "guarantee"
    client.tell(None)
    assert not (run.notice / NOTICE_FILE).exists()
    client.stop(0)
    assert kit.wait_exit(handle).reason is ExitReason.STOPPED

    def is_gone() -> bool:
        try:
            assert client.observe().phase.is_final, "what it says in its last moment is the end"
        except ChannelGone:
            return True
        return False

    eventually(is_gone, bool)
    eventually(run.channel.exists, lambda there: not there)


def test_the_driver_leaves_the_programs_folders_to_the_shim(
    kit: Kit, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "ANSWER_S", 60.0)  # it looks itself where the shim is busy for longer
    handle = running(kit, SAVES, "saved")
    with (
        patch.object(preemption_notice, "with_checkpoint", side_effect=AssertionError),
        patch.object(preemption_notice, "tell", side_effect=AssertionError),
    ):
        assert kit.driver.observe(handle).checkpoint_age_s is not None
        kit.driver.tell(handle, NOTICE)
    assert (run_directory(home, handle).notice / NOTICE_FILE).exists()
    end(kit, handle)


def test_notices_that_come_together_are_each_written_whole(plain: Kit, home: Path) -> None:
    handle = running(plain)
    run = run_directory(home, handle)
    found: list[str] = []

    def tell(number: int) -> None:
        client = client_of(run)
        for turn in range(20):
            client.tell(Notice(f"reason-{number}", 60.0 + 10 * turn, 30.0))
            found.append(json.loads((run.notice / NOTICE_FILE).read_text())["reason"])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(tell, range(8)))
    assert len(found) == 160
    assert [each.name for each in run.notice.iterdir()] == [NOTICE_FILE]
    end(plain, handle)


def test_a_shim_that_is_killed_in_the_middle_is_lost_and_its_records_are_read(kit: Kit, home: Path) -> None:
    handle = running(kit, SAVES, "saved")
    kit.wait(handle, lambda seen: (seen.ran_for_s or 0) >= 1)
    client = client_of(run_directory(home, handle))
    with socket.socket(socket.AF_UNIX) as half:
        half.settimeout(60)
        half.connect(str(run_directory(home, handle).channel))
        greeting.introduce(half, None, 60)
        half.sendall(frames.encode({"verb": "logs", "offset": 0, "limit": MIB})[:5])
        os.kill(shim_of(handle), signal.SIGKILL)
        with suppress(ConnectionResetError):  # it had not read the half yet
            assert half.recv(1) == b""
    with pytest.raises(ChannelGone):
        client.observe()
    kit.driver.tell(handle, NOTICE)
    seen: Observation = kit.wait(handle)
    assert seen.phase is Phase.LOST
    assert seen.ran_for_s is not None
    assert seen.ran_for_s >= 1
    assert seen.checkpoint_age_s is not None, "what it saved is seen without it"
    assert "saved" in kit.text(handle)


def test_killed_while_many_ask_nobody_is_told_of_an_end_that_is_not_proved(kit: Kit, home: Path) -> None:
    handle = running(kit)
    pid = shim_of(handle)
    all_ask = Barrier(4)

    def ask(number: int) -> list[Phase]:
        driver = LocalDriver(home, kit.driver.isolation().level, False, volumes=VOLUMES)
        phases, offset = [driver.observe(handle).phase], 0
        all_ask.wait(60)
        deadline = time.monotonic() + 60
        while phases.count(Phase.LOST) < 10 and time.monotonic() < deadline:
            phases.append(driver.observe(handle).phase)
            offset = driver.logs(handle, offset).next_offset
            if number == 0 and len(phases) == 10:
                os.kill(pid, signal.SIGKILL)
        return phases

    with ThreadPoolExecutor(4) as pool:
        seen = list(pool.map(ask, range(4)))
    for phases in seen:
        assert phases[0] is Phase.RUNNING
        assert phases[-1] is Phase.LOST
        assert phases == sorted(phases, key=lambda phase: phase is Phase.LOST)


def test_a_shim_that_hangs_costs_one_wait_and_then_its_records_speak(
    kit: Kit, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "REST_S", 3600.0)
    dialled: list[Path] = []
    dial = channel.dial
    monkeypatch.setattr(channel, "dial", lambda path: dialled.append(path) or dial(path))
    handle = running(kit, SAVES, "saved")
    pid = shim_of(handle)
    os.kill(pid, signal.SIGSTOP)
    try:
        for _ in range(50):
            seen = kit.driver.observe(handle)
            assert seen.phase is Phase.RUNNING
            assert seen.checkpoint_age_s is not None
        kit.driver.tell(handle, NOTICE)
        assert len(dialled) == 1, "it is not waited for again"
        assert (run_directory(home, handle).notice / NOTICE_FILE).exists()
        kit.driver.stop(handle, 0)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert kit.wait_exit(handle).reason is ExitReason.STOPPED


def test_a_run_of_before_there_was_a_channel_goes_on(kit: Kit, home: Path) -> None:
    """As an older shim left it: no socket. The platform around it was upgraded."""
    handle = running(kit, SAVES, "saved")
    run = run_directory(home, handle)
    run.channel.unlink()
    upgraded = LocalDriver(home, kit.driver.isolation().level, False, volumes=VOLUMES)
    seen = upgraded.observe(handle)
    assert seen.phase is Phase.RUNNING
    assert seen.checkpoint_age_s is not None
    upgraded.tell(handle, NOTICE)
    assert (run.notice / NOTICE_FILE).exists()
    upgraded.tell(handle, None)
    assert not (run.notice / NOTICE_FILE).exists()
    upgraded.stop(handle, 0)
    assert kit.wait_exit(handle).reason is ExitReason.STOPPED


@pytest.mark.parametrize("versions", [(2, 3), (0, 0)])
def test_a_shim_that_speaks_another_version_is_as_good_as_none(kit: Kit, versions: tuple[int, int]) -> None:
    handle = running(kit, SAVES, "saved")
    introduce = greeting.introduce
    asked: list[int] = []

    def another(stream: socket.socket, key: bytes | None, timeout_s: float) -> frozenset[str]:
        asked.append(1)
        return introduce(stream, key, timeout_s, versions)

    with patch.object(greeting, "introduce", another):
        fresh = FolderAccess(kit.driver._run(handle.ref), lambda: kit.driver._look(handle.ref), lambda: False)
        seen = channel.Channels().beside(fresh).observe()
    assert asked
    assert seen.phase is Phase.RUNNING
    assert seen.checkpoint_age_s is not None
    end(kit, handle)


def test_slow_and_silent_clients_do_not_hold_up_the_supervision(kit: Kit, home: Path) -> None:
    handle = running(kit, TICKS + "; print('x' * 16384)")
    eventually(lambda: len(kit.driver.logs(handle, 0, MIB).data), lambda size: size == MIB)
    run = run_directory(home, handle)
    with ExitStack() as stack:
        for number in range(30):
            stream = stack.enter_context(channel.dial(run.channel))
            if number % 3:
                greeting.introduce(stream, None, 60)
            if number % 3 == 2:
                frames.send(stream, {"verb": "logs", "offset": 0, "limit": MIB}, timeout_s=60)
        before, began = kit.driver.observe(handle).ran_for_s, time.monotonic()
        first = run.state.stat().st_mtime
        eventually(lambda: run.state.stat().st_mtime, lambda beat: beat - first >= 1.5)
        assert time.monotonic() - began < server.SEND_S, "so long it waits for one that reads slowly"
        assert kit.driver.observe(handle).ran_for_s > before
        assert end(kit, handle).reason is ExitReason.STOPPED


def test_twenty_clients_follow_a_log_to_its_end(kit: Kit, home: Path) -> None:
    lines = 20_000
    handle = kit.launch(kit.python(f"import time\ntime.sleep(1)\nfor n in range({lines}): print(f'{{n:063d}}')"))
    run = run_directory(home, handle)
    eventually(run.channel.exists, bool)

    def follow(_number: int) -> bytes:
        client, data = client_of(run), b""
        while True:
            try:
                chunk = client.logs(len(data), MIB)
            except ChannelGone:  # the end: the rest is in the file
                chunk = kit.driver.logs(handle, len(data), MIB)
            data += chunk.data
            if chunk.complete:
                return data
            if not chunk.data:
                time.sleep(0.05)

    with ThreadPoolExecutor(20) as pool:
        found = set(pool.map(follow, range(20)))
    assert len(found) == 1
    numbers = [line for line in found.pop().splitlines() if not line.startswith(b"[plstack]")]
    assert numbers == [b"%063d" % n for n in range(lines)]
    assert kit.wait_exit(handle).succeeded
