"""Elastic gangs over simulated machines: a lost machine costs members and not the work, and is charged accordingly."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from apps.billing.models import Hold, MeterSession
from apps.clusters import services as clusters
from apps.clusters.models import Accelerator, Node
from apps.common.errors import Invalid
from apps.common.scoping import acting
from apps.workloads import nodes, selectors
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import Mount
from apps.workloads.hardware import lost, simulation
from apps.workloads.models import Attempt, Workload
from apps.workloads.programs import asked_rank, members_of
from apps.workloads.reconcile.launch import launch_request
from tests.builders import World, platform
from tests.workloads.loops import until
from tests.workloads.test_gangs_simulated import received, until_ended
from tests.workloads.test_preempt import finish
from tests.workloads.test_preempt_simulated import submit

pytestmark = pytest.mark.programs

NAMES = ("sim-h100", "sim-h100-2", "sim-h100-3")


@pytest.fixture
def zone(world: World) -> Iterator[World]:
    """Three nodes with one good card each, whose use is charged."""
    nodes.simulated_driver.cache_clear()
    found = clusters.add_simulated_zone(platform(), isolation="L1", isolation_reason="")
    clusters.offer_packages(platform(), zone_id=found.pk)
    clusters.set_billed(platform(), zone_id=found.pk, billed=True)
    first = Node.objects.get(name=NAMES[0])
    first.accelerators.exclude(index=0).update(healthy=False)
    for number, name in enumerate(NAMES[1:], 2):
        twin, card = Node.objects.get(pk=first.pk), Accelerator.objects.get(node=first, index=0)
        twin.pk, twin.name, twin._state.adding = uuid4(), name, True
        twin.save()
        card.pk, card.node, card.uuid, card._state.adding = uuid4(), twin, f"SIM-twin-{number}", True
        card.save()
    yield world
    Node.objects.update(switched_off=False)
    finish(*Workload.objects.exclude(ended_at__isnull=False))
    nodes.simulated_driver.cache_clear()


def newest(workload: Workload) -> Attempt:
    return Attempt.objects.select_related("workload", "node").filter(workload=workload).latest("number")


def running(workload: Workload, attempt: int) -> Attempt:
    until(workload, lambda found: found.status == Status.RUNNING and found.attempt_number == attempt)
    return newest(workload)


def lose(name: str) -> None:
    node = Node.objects.get(name=name)
    simulation.switch(platform(), node_id=node.pk, on=False)
    lost.declare(platform(), node_id=node.pk)


def bring_back(name: str) -> None:
    node = Node.objects.get(name=name)
    simulation.switch(platform(), node_id=node.pk, on=True)
    assert received(node)


def charged(attempt: Attempt) -> int:
    return MeterSession.objects.get(pk=attempt.pk).replicas


def written_to(attempt: Attempt) -> tuple[Mount, ...]:
    return tuple(mount for mount in launch_request(attempt, members_of(attempt)).mounts if not mount.read_only)


def test_what_is_left_goes_on_after_a_loss_and_all_do_once_there_is_room_again(zone: World) -> None:
    workload = submit(zone, members=3, least_members=2)
    first = running(workload, 1)
    assert (first.member_count, first.size, charged(first)) == (3, None, 3)
    lose(NAMES[2])
    until_ended(workload)
    assert workload.reason == Reason.LOST
    second = running(workload, 2)
    assert (second.member_count, charged(second)) == (2, 2)
    assert [member.rank for member in members_of(second)] == [0, 1]
    assert {member.node.name for member in members_of(second)} == set(NAMES[:2])
    request = launch_request(second, members_of(second), 1)
    assert request.gang is not None
    assert request.gang.size == 2, "its programs are told how many they are"
    assert request.env["PLSTACK_RESTART"] == "1"
    assert written_to(second) == written_to(first), "and find what those before them saved"
    with acting(zone.actor):
        rate = workload.price_version.rate_fen_per_hour
        assert selectors.get(zone.actor, workload.pk).paid_rate == 2 * rate
    bring_back(NAMES[2])
    assert newest(workload).pk == second.pk, "what runs is not stopped to become larger"
    lose(NAMES[0])
    until_ended(workload)
    bring_back(NAMES[0])
    third = running(workload, 3)
    assert (third.member_count, charged(third)) == (3, 3)
    assert written_to(third) == written_to(first)


def test_it_waits_below_its_least_number_and_holds_nothing(zone: World) -> None:
    workload = submit(zone, members=3, least_members=2)
    running(workload, 1)
    for name in NAMES[1:]:
        lose(name)
    until_ended(workload)
    assert workload.status == Status.QUEUED
    assert not workload.attempts.filter(placements__released_at__isnull=True).exists()
    bring_back(NAMES[1])
    assert running(workload, 2).member_count == 2


def test_it_starts_small_where_there_is_no_room_for_all_and_pays_for_those_that_run(zone: World) -> None:
    other = submit(zone)
    until(other, lambda found: found.status == Status.RUNNING)
    workload = submit(zone, members=3, least_members=1)
    hour = 3 * workload.price_version.rate_fen_per_hour
    assert Hold.objects.get(workload_id=workload.pk, end__isnull=True).amount_fen >= hour, "an hour of all is set aside"
    attempt = running(workload, 1)
    assert (attempt.member_count, charged(attempt)) == (2, 2)
    assert [asked_rank(workload, text, attempt) for text in ("0", "1", "2")] == [0, 1, 0]


def test_one_member_alone_is_still_a_gang(zone: World) -> None:
    for name in NAMES[1:]:
        Node.objects.filter(name=name).update(status="cordoned")
    attempt = running(submit(zone, members=3, least_members=1), 1)
    assert (attempt.member_count, charged(attempt)) == (1, 1)
    assert [member.rank for member in members_of(attempt)] == [0]
    assert attempt.network_number is None


@pytest.mark.parametrize("least", [0, -1, 4])
def test_a_least_number_that_cannot_be_is_refused(zone: World, least: int) -> None:
    with pytest.raises(Invalid) as refused:
        submit(zone, members=3, least_members=least)
    assert set(refused.value.fields) == {"least_members"}
    assert not Workload.objects.exists()
