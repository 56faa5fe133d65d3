"""Fences on the shared storage end what runs behind a machine that nobody reaches: without its agent, in seconds."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.workloads.drivers import fencing
from apps.workloads.drivers.base import ExitReason, Handle, IsolationLevel, LaunchRefused
from apps.workloads.drivers.fencing import FENCED_WITHIN
from apps.workloads.drivers.local import processes
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.records import MARKER
from tests.drivers.agents import Agent
from tests.drivers.kit import Kit, eventually

WRITES = """
import sys, time
with open("/workspace/output/beats", "a", buffering=1) as file:
    print("ready", flush=True)
    while True:
        file.write("x\\n")
        time.sleep(0.05)
"""


@pytest.fixture
def agent(home: Path, tmp_path: Path) -> Iterator[Agent]:
    tmp_path.chmod(0o755)
    found = Agent(home, tmp_path, tmp_path)
    found.start()
    before = set(LocalDriver(home, IsolationLevel.L0).known())
    yield found
    found.kill()
    for ref in set(LocalDriver(home, IsolationLevel.L0).known()) - before:
        processes.end_marked(MARKER, ref, 5)


@pytest.fixture
def kit(agent: Agent, tmp_path: Path) -> Kit:
    code, output = tmp_path / "code", tmp_path / "output"
    for folder in (code, output):
        folder.mkdir()
        folder.chmod(0o777)
    return Kit(agent.driver, code, output, root=tmp_path)


def writing(kit: Kit) -> Handle:
    handle = kit.launch(kit.python(WRITES))
    kit.wait_output(handle, "ready")
    return handle


def test_it_ends_what_writes_though_its_agent_is_dead(agent: Agent, kit: Kit, home: Path, tmp_path: Path) -> None:
    handle, other = writing(kit), kit.launch(kit.python("import time; time.sleep(600)"))
    agent.kill()
    beats = kit.output / "beats"
    before = beats.stat().st_size
    eventually(lambda: beats.stat().st_size, lambda size: size > before)
    fencing.put_up(tmp_path, handle.ref)
    time.sleep(FENCED_WITHIN.total_seconds())
    size = beats.stat().st_size
    time.sleep(1)
    assert beats.stat().st_size == size, "another try may write there by now"
    local = LocalDriver(home, IsolationLevel.L0)
    ended = eventually(lambda: local.observe(Handle("local", "", handle.ref)).exit, bool)
    assert ended.reason is ExitReason.STOPPED
    assert not local.observe(Handle("local", "", other.ref)).phase.is_final
    assert fencing.is_up(tmp_path, handle.ref), "a launch that comes late finds it"


def test_what_is_fenced_never_starts(kit: Kit, tmp_path: Path) -> None:
    request = kit.python("print('here')")
    fencing.put_up(tmp_path, str(request.attempt_id))
    with pytest.raises(LaunchRefused) as refusal:
        kit.launch(request)
    assert refusal.value.code == "fenced"
    assert kit.driver.observe(Handle("remote", "far", str(request.attempt_id))).phase.is_final


def test_nothing_stays_of_a_fence_that_nobody_needed(kit: Kit, tmp_path: Path) -> None:
    waits = "import os, time\nwhile not os.path.exists(os.environ['PLSTACK_OUTPUT'] + '/seen'): time.sleep(0.05)"
    handle = kit.launch(kit.python(waits))
    fence = tmp_path / fencing.FOLDER / handle.ref
    eventually(fence.exists, bool)
    (kit.output / "seen").touch()
    kit.wait(handle)
    eventually(fence.exists, lambda there: not there)


def test_storage_that_cannot_be_read_is_no_order_to_end(kit: Kit, tmp_path: Path) -> None:
    handle = writing(kit)
    folder = tmp_path / fencing.FOLDER
    eventually((folder / handle.ref).exists, bool)
    folder.rename(tmp_path / "away")
    time.sleep(2 * fencing.LOOK_S)
    assert not kit.driver.observe(handle).phase.is_final
    (tmp_path / "away").rename(folder)
    fencing.put_up(tmp_path, handle.ref)
    kit.wait(handle)
