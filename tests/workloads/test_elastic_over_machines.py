"""An elastic run on two machines that joined: one dies, the other goes on from the checkpoint, and both do again."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from apps.billing.models import MeterSession
from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.storage import services as storage
from apps.storage.models import FolderKind
from apps.training import services as training
from apps.training.launchers.names import LauncherName
from apps.training.launchers.registry import inside_mount
from apps.training.models import Run
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.drivers.base import RuntimeImage
from apps.workloads.drivers.local import processes, runtime
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.remote import client
from apps.workloads.hardware import lost, silence
from apps.workloads.hardware.policy import NodeSettings
from apps.workloads.models import Attempt
from apps.workloads.programs import members_of
from tests.builders import World, make_image, make_package, platform, reload
from tests.drivers import kit
from tests.drivers.kit import eventually
from tests.drivers.machines import FarAgent
from tests.training.kit import request_for
from tests.training.launchers.test_frameworks import FOLDER as LAUNCHERS
from tests.training.launchers.test_frameworks import TORCH_PACKAGES as TORCH
from tests.workloads.loops import tick
from tests.workloads.test_gangs_over_machines import agents, trust, world

__all__ = ["agents", "world"]
pytestmark = [pytest.mark.programs, pytest.mark.django_db(transaction=True)]
FILES = Path(__file__).parents[1] / "training" / "launchers"
CODE = {"torch/distributed/run.py": "elastic_stand_in.py", "train.py": "elastic_program.py"}


@pytest.fixture(autouse=True)
def soon_lost(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that is silent for four seconds is lost; files of launchers are below this test's data."""
    monkeypatch.setattr(NodeSettings, "lost_after", property(lambda self: timedelta(seconds=4)))
    inside_mount.cache_clear()
    yield
    inside_mount.cache_clear()


def submit(world: World, files: Mapping[str, str], **more: Any) -> Run:
    with acting(world.actor):
        code = storage.create_folder(world.actor, kind=FolderKind.CODE)
        for path, file in files.items():
            storage.write_text(world.actor, folder=code, path=path, text=(FILES / file).read_text())
        asked = {"members": 2, "least_members": 1, "launcher": LauncherName.TORCHRUN_ELASTIC, **more}
        return training.submit(world.actor, request_for(world, text=None, code_id=code.pk, **asked))


def steps(run: Run) -> list[tuple[int, int, int]]:
    """(restarts before, number, size of the world) of each that was done."""
    file = storage.root_of(run.output) / "checkpoints" / "steps"
    lines = file.read_text().splitlines() if file.exists() else []
    return [(int(restart), int(step), int(size)) for restart, step, size in map(str.split, lines)]


def turn_until(run: Run, done: Callable[[], bool]) -> None:
    def look() -> bool:
        tick()
        silence.declare_silent_nodes_lost(platform())
        lost.advance(platform())
        lost.readmit_returned_nodes(platform())
        reload(run.workload)
        return done()

    eventually(look, bool)


def attempt(run: Run, number: int) -> Attempt:
    return Attempt.objects.select_related("workload", "node").get(workload=run.workload, number=number)


def worked(run: Run, number: int, size: int) -> Attempt:
    """The attempt once it has done some steps with so many workers."""
    turn_until(run, lambda: sum(step[::2] == (number - 1, size) for step in steps(run)) > 3)
    found = attempt(run, number)
    assert (found.member_count, MeterSession.objects.get(pk=found.pk).replicas) == (size, size)
    return found


def lose_power(agent: FarAgent, on_it: list[str]) -> None:
    """All that runs on the machine ends at once, and nobody is told."""
    agent.kill()
    for ref in on_it:
        processes.send(processes.marked(MARKER, ref), signal.SIGKILL)


def test_a_machine_that_dies_costs_members_and_not_the_job(world: World, agents: list[FarAgent]) -> None:
    trust(world)
    it_goes_on(submit(world, CODE), agents)


@pytest.mark.skipif(not LAUNCHERS, reason="PLSTACK_LAUNCHERS names no folder with a runtime of PyTorch")
def test_so_it_does_under_pytorchs_own_torchrun(
    world: World, agents: list[FarAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the runtime that `tests/training/launchers/test_frameworks.py` has built."""
    monkeypatch.setattr(kit, "DEADLINE_S", 600.0)
    monkeypatch.setattr(NodeSettings, "lost_after", property(lambda self: timedelta(seconds=20)))
    trust(world)
    built = Path(LAUNCHERS, "runtimes", runtime.key(RuntimeImage("torch", TORCH)))
    if not runtime.is_complete(built):
        pytest.skip(f"run test_frameworks first: {built} is not there")
    for agent in agents:
        shutil.copytree(built, agent.home / "runtimes" / built.name, symlinks=True, copy_function=os.link)
    package = make_package(memory_mib=3000)
    run = submit(world, {"train.py": "elastic_torch.py"}, image_id=make_image("torch", TORCH).pk, package_id=package.pk)
    it_goes_on(run, agents)


def it_goes_on(run: Run, agents: list[FarAgent]) -> None:
    """With one member after a machine was lost, with both again after the next boundary, and not a step twice."""
    first = worked(run, 1, 2)
    gone = next(agent for agent in agents if agent.node_id == str(members_of(first)[1].node_id))
    lose_power(gone, [str(members_of(first)[1].pk)])
    second = worked(run, 2, 1)
    first.refresh_from_db()
    assert (first.fault, run.workload.status) == (Fault.NODE, Status.RUNNING)
    assert str(second.node_id) != gone.node_id
    client._resting.clear()
    gone.start()
    # The boundary at which it grows again: its machine is emptied, and takes work again at once.
    Node.objects.filter(pk=gone.node_id).update(last_seen_at=first.ended_at + timedelta(days=1))
    turn_until(run, lambda: Node.objects.get(pk=gone.node_id).lost_at is None)
    empty = {"status": "draining", "drain_action": "requeue", "drain_until": "2020-01-01T00:00Z"}
    Node.objects.filter(pk=second.node_id).update(**empty)
    turn_until(run, lambda: attempt(run, 2).ended_at is not None)
    Node.objects.filter(pk=second.node_id).update(status="ready", drain_action="", drain_until=None)
    if run.workload.status == Status.QUEUED:
        assert run.workload.reason == Reason.DRAINED
    worked(run, 3, 2)
    (storage.root_of(run.output) / "finish").touch()
    turn_until(run, lambda: not run.workload.is_live)
    assert run.workload.status == Status.SUCCEEDED, (run.workload.reason, run.workload.reason_data)
    numbers = [step for _restart, step, _size in steps(run)]
    assert numbers == list(range(1, len(numbers) + 1)), "no step was done twice, and none was lost"
