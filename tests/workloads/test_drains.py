"""Emptying a node on which work really runs: it is told, it moves on or ends, and nothing is charged twice."""

from datetime import timedelta
from uuid import UUID

import pytest

from apps.billing.models import MeterSession
from apps.clusters.choices import DrainAction, NodeStatus
from apps.clusters.models import Node
from apps.clusters.services import cordon
from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.notifications.models import Notice
from apps.workloads.choices import Reason, Status
from apps.workloads.hardware import drains, removal
from apps.workloads.models import Attempt, Workload
from tests.builders import World, make_node, platform, reload, submit_workload
from tests.console.kit import count_entries
from tests.workloads.loops import tick, until

NOW, LATER = timedelta(0), timedelta(minutes=30)


def running(world: World) -> Workload:
    with acting(world.actor):
        workload = submit_workload(world, argv=("sleep", "60"))
    return until(workload, lambda found: found.status == Status.RUNNING)


def drain(node_id: UUID, action: DrainAction, notice: timedelta) -> Node:
    return drains.drain(platform(), node_id=node_id, action=action, notice=notice)


def turn() -> None:
    drains.advance(platform())
    tick()


def finish(workload: Workload) -> None:
    """End what still runs, so that nothing outlives the test."""
    with acting(platform()):
        Workload.objects.filter(pk=workload.pk).update(desired="stopped")
        until(workload, lambda found: not found.is_live)


@pytest.mark.programs
def test_until_the_deadline_work_goes_on_and_its_owner_is_told_once(world: World) -> None:
    workload = running(world)
    drain(world.node.pk, DrainAction.REQUEUE, LATER)
    turn()
    assert reload(workload).status == Status.RUNNING
    assert Notice.objects.filter(kind="node.draining", user=world.alice).count() == 1
    with acting(world.actor):
        waiting = submit_workload(world, key="second")
    turn()
    assert reload(waiting).status == Status.QUEUED
    assert Node.objects.get(pk=world.node.pk).status == NodeStatus.DRAINING
    finish(workload)


@pytest.mark.programs
def test_at_the_deadline_work_goes_back_into_the_queue_and_runs_elsewhere(world: World) -> None:
    workload = running(world)
    first = Attempt.objects.get(workload=workload)
    drain(world.node.pk, DrainAction.REQUEUE, NOW)
    until(workload, lambda found: found.status == Status.QUEUED)
    assert workload.reason == Reason.DRAINED
    session = MeterSession.objects.get(pk=first.pk)
    assert session.closed_at is not None
    make_node(name="other")
    until(workload, lambda found: found.status == Status.RUNNING)
    second = Attempt.objects.get(workload=workload, number=2)
    assert second.node.name == "other"
    drains.advance(platform())
    emptied = Node.objects.get(pk=world.node.pk)
    assert (emptied.status, emptied.drain_until) == (NodeStatus.CORDONED, None)
    assert count_entries("node.drained") == 1
    finish(workload)


@pytest.mark.programs
def test_or_it_is_stopped_with_that_as_its_reason(world: World) -> None:
    workload = running(world)
    drain(world.node.pk, DrainAction.STOP, NOW)
    drains.advance(platform())
    until(workload, lambda found: not found.is_live)
    assert (workload.status, workload.reason) == (Status.STOPPED, Reason.DRAINED)


@pytest.mark.programs
def test_a_drain_can_be_cancelled_and_the_node_takes_work_again(world: World) -> None:
    workload = running(world)
    drain(world.node.pk, DrainAction.STOP, LATER)
    drains.cancel(platform(), node_id=world.node.pk)
    turn()
    assert reload(workload).status == Status.RUNNING
    assert Node.objects.get(pk=world.node.pk).status == NodeStatus.READY
    with pytest.raises(Conflict):
        drains.cancel(platform(), node_id=world.node.pk)
    finish(workload)


def test_an_empty_node_is_drained_at_once_and_may_then_be_removed(world: World) -> None:
    other = make_node(name="other")
    Node.objects.filter(pk=other.pk).update(driver="remote")
    with pytest.raises(Conflict, match="still takes work"):
        removal.remove_node(platform(), node_id=other.pk)
    drain(other.pk, DrainAction.REQUEUE, LATER)
    drains.advance(platform())
    removal.remove_node(platform(), node_id=other.pk)
    assert not Node.objects.filter(pk=other.pk).exists()
    assert Node.everything.get(pk=other.pk).removed_at is not None
    make_node(name="other")  # the name is free again


def test_the_platforms_own_machine_is_never_removed(world: World) -> None:
    cordon(platform(), node_id=world.node.pk, cordoned=True)
    with pytest.raises(Conflict, match="runs the platform itself"):
        removal.remove_node(platform(), node_id=world.node.pk)


def test_a_notice_of_weeks_is_refused(world: World) -> None:
    with pytest.raises(Invalid):
        drain(world.node.pk, DrainAction.STOP, timedelta(days=8))
