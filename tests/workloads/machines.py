"""A machine that joined and that tests cut off and reconnect at will, behind the name of the remote driver."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.db.models import F

from apps.clusters.models import Node
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.workloads import nodes
from apps.workloads.choices import Status
from apps.workloads.drivers import fencing
from apps.workloads.drivers.base import (
    CannotSee,
    Exit,
    ExitReason,
    Handle,
    LaunchRequest,
    Observation,
    Phase,
)
from apps.workloads.drivers.remote.driver import RemoteDriver
from apps.workloads.drivers.said import Code, Said
from apps.workloads.hardware import lost, silence
from apps.workloads.models import Attempt, Workload
from tests.builders import World, make_node, platform, reload, submit_workload
from tests.workloads.loops import tick


@dataclass
class Machine(RemoteDriver):
    """Its programs run until they are stopped; `ran_s` and `checkpoint_age_s` are what it says of them.

    `ran_s` None: they are being prepared.
    """

    node: Node
    reachable: bool = True
    ran_s: float | None = 60.0
    checkpoint_age_s: float | None = None
    running: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def launch(self, request: LaunchRequest) -> Handle:
        self._answer("launch")
        self.running.add(str(request.attempt_id))
        return Handle("remote", request.node, str(request.attempt_id))

    def observe(self, handle: Handle) -> Observation:
        self._answer("observe")
        if handle.ref in self.running:
            phase = Phase.IMAGE if self.ran_s is None else Phase.RUNNING
            return Observation(phase, ran_for_s=self.ran_s, checkpoint_age_s=self.checkpoint_age_s)
        reason = ExitReason.STOPPED if handle.ref in self.ended else ExitReason.LOST
        return Observation(
            Phase.EXITED if handle.ref in self.ended else Phase.LOST,
            ran_for_s=self.ran_s,
            exit=Exit(None, None, reason),
        )

    def stop(self, handle: Handle, grace_s: float) -> None:
        self._answer("stop")
        if handle.ref in self.running:
            self.running.discard(handle.ref)
            self.ended.add(handle.ref)

    @property
    def fenced_within(self) -> timedelta:
        return fencing.FENCED_WITHIN

    def fence(self, ref: str) -> None:
        fencing.put_up(nodes.data_root(), ref)

    def unfence(self, ref: str) -> None:
        fencing.remove(nodes.data_root(), ref)

    def answers(self, node: str) -> bool:
        self.asked.append("answers")
        return self.reachable

    def _answer(self, verb: str) -> None:
        self.asked.append(verb)
        if not self.reachable:
            raise CannotSee(Said(Code.NODE_RESTING))


def joined(world: World, patch: pytest.MonkeyPatch, name: str = "far") -> Machine:
    """The world's own node takes nothing, so that work goes to this one. Of several, the last answers for all."""
    Node.objects.filter(pk=world.node.pk).update(status="cordoned")
    node = make_node(name=name)
    Node.objects.filter(pk=node.pk).update(driver="remote")
    node.refresh_from_db()
    nodes.data_root().mkdir(exist_ok=True)
    machine = Machine(node)
    patch.setitem(nodes._DRIVERS, "remote", lambda: machine)
    return machine


def run_for(world: World, machine: Machine, seconds: float = 3600.0, **changes: object) -> Workload:
    """A workload that has been running there for so long, as far as the machine has told."""
    with acting(world.actor):
        workload = submit_workload(world, argv=("sleep", "60"), **changes)
    machine.ran_s = None
    machine.reachable = True
    tick()
    long_ago = db_now() - timedelta(seconds=seconds + 60)
    Workload.objects.filter(pk=workload.pk).update(queued_at=long_ago)
    Attempt.objects.filter(workload=workload).update(placed_at=long_ago)
    machine.ran_s = seconds
    tick()
    assert reload(workload).status == Status.RUNNING, workload.status
    return workload


def pass_silence(minutes: float) -> None:
    """The platform listens for so long, turn by turn, and hears nothing."""
    for _turn in range(round(minutes * 60 / 20)):
        wait(timedelta(seconds=20))
        silence.declare_silent_nodes_lost(platform())


def wait(time: timedelta) -> None:
    """What was seen so far of machines that can be lost was seen so much earlier."""
    for node in silence.losable_nodes():
        listened = node.listened_at - time if node.listened_at else None
        Node.objects.filter(pk=node.pk).update(last_seen_at=node.last_seen_at - time, listened_at=listened)
    for attempt in Attempt.objects.filter(seen_at__isnull=False):
        Attempt.objects.filter(pk=attempt.pk).update(seen_at=attempt.seen_at - time)


def beat(machine: Machine) -> None:
    Node.objects.filter(pk=machine.node.pk).update(last_seen_at=db_now())


def fenced() -> None:
    """The time that a shim has to see its fence is over."""
    waiting = Attempt.objects.filter(given_up_at__isnull=False, ended_at__isnull=True)
    waiting.update(given_up_at=F("given_up_at") - fencing.FENCED_WITHIN)
    Node.objects.filter(lost_at__isnull=False).update(lost_at=F("lost_at") - fencing.FENCED_WITHIN)


def let_go() -> None:
    """From the decision to the end of its work."""
    lost.advance(platform())
    fenced()
    lost.advance(platform())


def die(machine: Machine) -> None:
    """It answers nobody any more, and says nothing."""
    machine.reachable = False
    wait(timedelta(minutes=2))


def come_back(machine: Machine) -> None:
    """It is reachable again, reports, and the platform clears up."""
    machine.reachable = True
    beat(machine)
    lost.readmit_returned_nodes(platform())


def attempt_of(workload: Workload) -> Attempt:
    """The newest."""
    return Attempt.objects.filter(workload=workload).latest("number")


def node_of(machine: Machine) -> Node:
    return Node.objects.get(pk=machine.node.pk)
