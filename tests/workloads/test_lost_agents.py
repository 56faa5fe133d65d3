"""Machines that die and return, with a real agent and real processes: nothing runs twice."""

import signal
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.common.sealing import purpose_for, seal
from apps.workloads import crediting, nodes
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.drivers import fencing
from apps.workloads.drivers.base import Handle
from apps.workloads.drivers.local import processes
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.remote import client
from apps.workloads.hardware import lost, silence
from apps.workloads.hardware.policy import NodeSettings
from apps.workloads.models import Attempt, Workload
from apps.workloads.spec import DataMount
from tests.builders import World, make_node, make_world, platform, reload, submit_workload
from tests.drivers.agents import Agent
from tests.drivers.kit import eventually
from tests.workloads.loops import tick

N = timedelta(seconds=4)
# Says every 50 ms which try it is, into a folder that all tries share.
BEATS = """
import os, time
while True:
    with open("/workspace/output/beats", "a") as file:
        file.write(f"{os.environ['PLSTACK_RESTART']} {time.time():.3f}\\n")
    time.sleep(0.05)
"""

pytestmark = [pytest.mark.programs, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(NodeSettings, "lost_after", property(lambda self: N))
    with acting(platform()):
        yield make_world()


@pytest.fixture
def agent(world: World, home: Path, tmp_path: Path, live_server: Any) -> Iterator[Agent]:
    """On a machine of its own that joined, the only one that takes work; it has the platform's data folder."""
    nodes.data_root().mkdir(exist_ok=True)
    nodes.data_root().chmod(0o755)
    output = nodes.data_root() / "out"
    output.mkdir(exist_ok=True)
    output.chmod(0o777)
    (output / "beats").unlink(missing_ok=True)
    found = Agent(tmp_path / "machine", nodes.data_root(), nodes.data_root(), server=live_server.url)
    Node.objects.filter(pk=world.node.pk).update(status="cordoned")
    node = make_node(name="far")
    Node.everything.filter(pk=node.pk).update(id=UUID(found.node_id), driver="remote", address=found.peer.address)
    sealed = seal(found.secret, purpose=purpose_for("clusters_node", UUID(found.node_id), "sealed_secret"))
    Node.objects.filter(pk=found.node_id).update(sealed_secret=sealed)
    found.start()
    yield found
    if found.process is not None:
        found.process.send_signal(signal.SIGCONT)
    found.kill()
    for driver in (LocalDriver(tmp_path / "machine"), LocalDriver(home)):
        for ref in driver.known():
            processes.end_marked(MARKER, ref, 5)


def running(world: World) -> Workload:
    with acting(world.actor):
        mount = DataMount("out", "/workspace/output", read_only=False)
        workload = submit_workload(world, argv=("python", "-c", BEATS), mounts=(mount,))
    turn_until(workload, lambda: reload(workload).status == Status.RUNNING)
    # What is killed or cut off from here on has written something.
    eventually(beats, bool)
    return workload


def turn() -> None:
    tick()
    silence.declare_silent_nodes_lost(platform())
    lost.advance(platform())
    lost.readmit_returned_nodes(platform())
    crediting.sweep(platform())


def turn_until(workload: Workload, done: Callable[[], bool]) -> Workload:
    def look() -> bool:
        turn()
        return done()

    eventually(look, bool)
    return workload


def beats() -> list[tuple[int, float]]:
    file = nodes.data_root() / "out" / "beats"
    text = file.read_text() if file.exists() else ""
    text = text[: text.rfind("\n") + 1]  # the last line may be half written
    return [(int(line.split()[0]), float(line.split()[1])) for line in text.splitlines()]


def never_together() -> bool:
    """Whether the second try wrote nothing before the first had written its last."""
    first, second = ([at for number, at in beats() if number == wanted] for wanted in (0, 1))
    assert first
    assert second
    return max(first) < min(second)


def attempt_of(workload: Workload, number: int) -> Attempt:
    return Attempt.objects.select_related("node").get(workload=workload, number=number)


def shims_of(workload: Workload) -> list[int]:
    return processes.marked(MARKER, str(attempt_of(workload, 1).pk))


def finish(workload: Workload) -> None:
    Workload.objects.filter(pk=workload.pk).update(desired="stopped")
    turn_until(workload, lambda: not reload(workload).is_live)


def test_a_machine_that_died_lets_go_and_serves_again_when_it_is_back(world: World, agent: Agent) -> None:
    workload = running(world)
    agent.kill()
    processes.send(shims_of(workload), signal.SIGKILL)
    turn_until(workload, lambda: reload(workload).status == Status.QUEUED)
    first = attempt_of(workload, 1)
    assert (workload.reason, first.fault) == (Reason.LOST, Fault.NODE)
    assert first.started_at is not None
    assert first.ended_at == first.started_at + timedelta(seconds=first.ran_for_s or 0)
    client._resting.clear()
    agent.start()
    turn_until(workload, lambda: reload(workload).status == Status.RUNNING)
    assert attempt_of(workload, 2).node.name == "far"
    assert Node.objects.get(name="far").lost_at is None
    assert attempt_of(workload, 1).gone_at is not None
    eventually(lambda: {number for number, _at in beats()}, lambda found: found == {0, 1})
    assert never_together()
    finish(workload)


def test_what_lives_on_without_its_agent_is_fenced_before_it_runs_elsewhere(world: World, agent: Agent) -> None:
    workload = running(world)
    agent.kill()
    Node.objects.filter(pk=world.node.pk).update(status="ready")
    turn_until(workload, lambda: reload(workload).status == Status.RUNNING and workload.attempt_number == 2)
    assert attempt_of(workload, 2).node_id == world.node.pk
    eventually(lambda: {number for number, _at in beats()}, lambda found: found == {0, 1})
    assert never_together()
    eventually(lambda: shims_of(workload), lambda pids: not pids)
    finish(workload)


def test_an_agent_that_returns_ends_what_was_given_up_without_being_asked(
    world: World, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the storage nor the platform's own calls reach the machine: its heartbeat does."""
    monkeypatch.setattr(fencing, "put_up", lambda data, ref: None)
    workload = running(world)
    agent.kill()
    turn_until(workload, lambda: reload(workload).status == Status.QUEUED)
    assert shims_of(workload), "it is isolated, and nobody ended it"
    agent.start()
    ref = str(attempt_of(workload, 1).pk)
    machine = LocalDriver(agent.home)
    eventually(lambda: machine.observe(Handle("local", "", ref)).phase.is_final, bool)
    eventually(lambda: shims_of(workload), lambda pids: not pids)
    finish(workload)


def test_a_machine_that_was_frozen_thaws_into_an_end(world: World, agent: Agent) -> None:
    workload = running(world)
    stopped = [*shims_of(workload), *([agent.process.pid] if agent.process else [])]
    processes.send(stopped, signal.SIGSTOP)
    turn_until(workload, lambda: reload(workload).status == Status.QUEUED)
    Node.objects.filter(pk=world.node.pk).update(status="ready")
    processes.send(stopped, signal.SIGCONT)
    client._resting.clear()
    eventually(lambda: shims_of(workload), lambda pids: not pids)
    turn_until(workload, lambda: Node.objects.get(name="far").lost_at is None)
    assert attempt_of(workload, 1).gone_at is not None
    finish(workload)
