"""A machine that cannot keep organisations apart serves one of them, unless the operator says otherwise."""

import pytest
from django.conf import LazySettings

from apps.clusters.models import Node
from apps.common.errors import Conflict
from apps.common.scoping import acting
from apps.workloads.choices import Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.reconcile.schedule import run_pass
from tests.builders import (
    World,
    actor_of,
    make_member,
    make_node,
    make_organisation,
    make_world,
    platform,
    reload,
    submit_workload,
)


@pytest.fixture
def unisolated(world: World) -> World:
    Node.objects.update(isolation="L0")
    return world


def second(world: World) -> Workload:
    """A submission of another organisation on the same machine."""
    with acting(platform()):
        other = make_organisation()
        bob = actor_of(make_member(other, "bob"), other)
    with acting(bob):
        return submit_workload(world, actor=bob)


def test_the_first_organisation_may_use_it(unisolated: World) -> None:
    with acting(unisolated.actor):
        assert submit_workload(unisolated).status == Status.QUEUED


def test_a_second_one_is_refused_in_words_with_nothing_left_behind(unisolated: World) -> None:
    with pytest.raises(Conflict, match="cannot keep organisations apart"):
        second(unisolated)
    assert not Workload.objects.exists()


def test_the_operator_may_accept_the_risk(unisolated: World, settings: LazySettings) -> None:
    settings.PLSTACK_ALLOW_SHARED_L0 = True
    assert second(unisolated).status == Status.QUEUED


def test_isolation_lost_after_submission_keeps_it_waiting_with_that_cause(world: World) -> None:
    workload = second(world)
    Node.objects.update(isolation="L0")
    run_pass(platform())
    assert reload(workload).status == Status.QUEUED
    assert workload.explanation["cause"] == "isolation"


def test_beside_isolated_machines_unisolated_ones_still_serve_the_trusted_organisation_alone(db: None) -> None:
    with acting(platform()):
        world = make_world()
        Node.objects.filter(pk=world.node.pk).update(isolation="L0")
        isolated = make_node(cpu_milli=2000)
        other = make_organisation()
        bob = actor_of(make_member(other, "bob"), other)
        with acting(bob):
            theirs = [submit_workload(world, actor=bob) for _ in range(3)]
        run_pass(platform())
        assert {attempt.node for attempt in Attempt.objects.all()} == {isolated}
        assert sorted(reload(workload).status for workload in theirs) == [Status.PLACED, Status.PLACED, Status.QUEUED]
        Workload.objects.filter(status=Status.QUEUED).update(status=Status.STOPPED)
        with acting(world.actor):
            mine = submit_workload(world)
        run_pass(platform())
        assert Attempt.objects.get(workload=mine).node == world.node
