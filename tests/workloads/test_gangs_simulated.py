"""Gangs over simulated machines: whole cards on two of them, and one of the two lost."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from apps.clusters import services as clusters
from apps.clusters.models import Accelerator, Node
from apps.workloads import nodes
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import Handle
from apps.workloads.hardware import holding, lost, simulation, strays
from apps.workloads.models import Attempt, Member, Placement, Workload
from apps.workloads.programs import members_of
from tests.builders import World, platform, reload
from tests.drivers.kit import eventually
from tests.workloads.loops import tick, until
from tests.workloads.test_preempt import finish
from tests.workloads.test_preempt_simulated import submit

pytestmark = pytest.mark.programs


@pytest.fixture
def zone(world: World) -> Iterator[World]:
    """Two nodes with one good card each."""
    nodes.simulated_driver.cache_clear()
    found = clusters.add_simulated_zone(platform(), isolation="L1", isolation_reason="")
    clusters.offer_packages(platform(), zone_id=found.pk)
    first = Node.objects.get(name="sim-h100")
    first.accelerators.exclude(index=0).update(healthy=False)
    twin = Node.objects.get(pk=first.pk)
    twin.pk, twin.name, twin._state.adding = uuid4(), "sim-h100-2", True
    twin.save()
    card = Accelerator.objects.get(node=first, index=0)
    card.pk, card.node, card.uuid, card._state.adding = uuid4(), twin, "SIM-twin-0", True
    card.save()
    yield world
    Node.objects.update(switched_off=False)
    finish(*Workload.objects.exclude(ended_at__isnull=False))
    nodes.simulated_driver.cache_clear()


def running(world: World) -> Workload:
    return until(submit(world, members=2), lambda workload: workload.status == Status.RUNNING)


def until_ended(workload: Workload) -> None:
    """Turn the loop that ends what was given up: the other member gets the time that a stop takes."""

    def is_back() -> bool:
        if reload(workload).status == Status.QUEUED:
            return True
        lost.advance(platform())
        return False

    eventually(is_back, bool)


def newest(workload: Workload) -> Attempt:
    return Attempt.objects.select_related("workload").filter(workload=workload).latest("number")


def test_members_hold_a_card_each_on_two_machines(zone: World) -> None:
    members = members_of(newest(running(zone)))
    assert {member.node.name for member in members} == {"sim-h100", "sim-h100-2"}
    for member in members:
        piece = Placement.objects.select_related("accelerator").get(attempt=member.attempt, rank=member.rank)
        assert piece.node_id == member.node_id
        assert piece.accelerator is not None
        assert piece.accelerator.node_id == member.node_id
        assert [attempt.pk for attempt in holding.attempts_on_node(member.node_id)] == [member.attempt_id]


def test_three_do_not_fit_and_hold_nothing(zone: World) -> None:
    workload = submit(zone, members=3)
    tick()
    assert reload(workload).status == Status.QUEUED
    assert not Placement.objects.filter(released_at__isnull=True).exists()
    assert workload.explanation["cause"] != ""


def test_each_of_two_lost_machines_proves_what_it_ran(zone: World) -> None:
    workload = running(zone)
    attempt = newest(workload)
    machines = [member.node for member in members_of(attempt)]
    for node in machines:
        simulation.switch(platform(), node_id=node.pk, on=False)
        lost.declare(platform(), node_id=node.pk)
    until_ended(workload)
    for node, is_last in zip(machines, (False, True), strict=True):
        simulation.switch(platform(), node_id=node.pk, on=True)
        assert received(node), "a machine waits for no other's proof"
        attempt.refresh_from_db()
        assert (attempt.gone_at is not None) == is_last
    for member in members_of(attempt):
        assert nodes.driver_named("simulated").observe(Handle.from_dict(member.handle or {})).phase.is_final


def received(node: Node) -> bool:
    """Turn the loop that takes machines back until this one is: what it ran has to have ended."""

    def is_received() -> bool:
        lost.readmit_returned_nodes(platform())
        node.refresh_from_db()
        return node.lost_at is None

    return bool(eventually(is_received, bool))


def test_what_a_machine_runs_for_a_gang_is_accounted_for(zone: World) -> None:
    for member in members_of(newest(running(zone))):
        assert strays.record_strays(member.node, {member.pk}) == 0
        assert strays.record_strays(member.node, {member.pk, uuid4()}) == 1


def test_one_lost_machine_ends_the_attempt_on_both(zone: World) -> None:
    workload = running(zone)
    attempt = newest(workload)
    there = Node.objects.get(name="sim-h100-2")
    simulation.switch(platform(), node_id=there.pk, on=False)
    lost.declare(platform(), node_id=there.pk)
    until_ended(workload)
    assert (workload.status, workload.reason) == (Status.QUEUED, Reason.LOST)
    assert not Placement.objects.filter(released_at__isnull=True).exists()
    assert not Member.objects.filter(attempt=attempt, ended_at__isnull=True).exists()
    stays, gone = sorted(members_of(attempt), key=lambda member: member.node_id == there.pk)
    assert lost.programs_to_end({stays.pk, gone.pk}) == {stays.pk, gone.pk}
    handle = Handle("simulated", stays.node.name, str(stays.pk))
    assert nodes.simulated_driver().observe(handle).phase.is_final, "the member on the healthy machine was stopped, too"
    simulation.switch(platform(), node_id=there.pk, on=True)
    assert received(there)
    until(workload, lambda found: found.status == Status.RUNNING and found.attempt_number == 2)


def test_emptying_one_machine_moves_the_whole_gang(zone: World) -> None:
    workload = running(zone)
    there = Node.objects.get(name="sim-h100-2")
    Node.objects.filter(pk=there.pk).update(status="draining", drain_action="requeue", drain_until="2020-01-01T00:00Z")
    until(workload, lambda found: found.status == Status.QUEUED)
    assert workload.reason == Reason.DRAINED
    assert not Placement.objects.filter(released_at__isnull=True).exists()
