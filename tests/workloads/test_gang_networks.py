"""Which nodes a gang may span, and the number of its network: from the rows to the driver's request."""

from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

import scheduler
from apps.audit.models import Entry
from apps.clusters import services as clusters
from apps.clusters.models import Node, Zone
from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied
from apps.common.scoping import acting
from apps.workloads.choices import Status
from apps.workloads.drivers.overlay import LAST_NUMBER, Ability, Kind, Overlay
from apps.workloads.models import Attempt, Member, Workload
from apps.workloads.programs import members_of
from apps.workloads.reconcile import gang_networks, snapshot, topology_version
from apps.workloads.reconcile.launch import launch_request
from apps.workloads.reconcile.starting import start
from apps.workloads.requested import make_task
from tests.builders import World, platform, submit_workload

ABLE = Ability(frozenset({Kind.VXLAN}), "198.18.0.1").as_json()


@pytest.fixture
def pair(world: World) -> list[Node]:
    """Two nodes of one zone whose agents can be joined."""
    zone = Zone.objects.get(pk=world.node.cluster.zone_id)
    first, second = (
        Node.objects.create(
            cluster=world.node.cluster, name=f"far-{index}", driver="remote", arch="x86_64", cpu_milli=8000,
            memory_mib=16_000, isolation="L1", gang_network={**ABLE, "address": f"198.18.0.{index + 1}"},
        )
        for index in range(2)
    )  # fmt: skip
    assert not zone.trusted_network, "off unless the operator says so"
    return [first, second]


def trust(world: World, trusted: bool = True) -> Zone:
    with acting(platform()):
        return clusters.set_trusted_network(platform(), zone_id=world.node.cluster.zone_id, trusted=trusted)


def joined() -> set[str]:
    with acting(platform()):
        return {node.id for node in snapshot.nodes(db_now(), simulated=False) if node.joined}


def placed(world: World, nodes: list[Node]) -> Attempt:
    """A gang of two that the scheduler gave these nodes."""
    with acting(world.actor):
        workload = submit_workload(world, members=2)
    Workload.objects.filter(pk=workload.pk).update(status=Status.QUEUED)
    places = tuple(scheduler.Place(str(workload.pk), str(node.pk), (), member) for member, node in enumerate(nodes))
    with acting(platform()):
        assert start(platform(), scheduler.Plan(places)).placed == [workload.pk]
        return Attempt.objects.select_related("workload").get(workload=workload)


def test_nodes_are_joined_where_the_network_is_trusted_and_they_can(world: World, pair: list[Node]) -> None:
    able = {str(node.pk) for node in pair}
    assert joined() == set()
    trust(world)
    assert joined() == able, "the platform's own machine has no agent"
    Node.objects.filter(pk=pair[0].pk).update(gang_network={})
    assert joined() == able - {str(pair[0].pk)}
    trust(world, False)
    assert joined() == set()


def test_a_pass_sees_that_the_network_is_trusted(world: World, pair: list[Node]) -> None:
    now = db_now()
    before = topology_version.digest(now, simulated=False)
    trust(world)
    after = topology_version.digest(now, simulated=False)
    Node.objects.filter(pk=pair[0].pk).update(gang_network={})
    assert len({before, after, topology_version.digest(now, simulated=False)}) == 3


def test_the_members_are_told_where_the_others_are(world: World, pair: list[Node]) -> None:
    attempt = placed(world, pair)
    with acting(platform()):
        members = members_of(attempt)
        requests = [launch_request(attempt, members, rank) for rank in range(2)]
    assert attempt.network_number is not None
    overlay = Overlay(attempt.network_number, ("198.18.0.1", "198.18.0.2"))
    assert [request.gang.overlay if request.gang else None for request in requests] == [overlay, overlay]
    assert overlay.problem(("far-0", "far-1")) == ""


def test_a_gang_on_one_node_needs_no_network_between_machines(world: World, pair: list[Node]) -> None:
    attempt = placed(world, [pair[0], pair[0]])
    assert attempt.network_number is None
    with acting(platform()):
        gang = launch_request(attempt, members_of(attempt), 0).gang
    assert gang is not None
    assert gang.overlay is None


def test_two_live_gangs_have_two_numbers_and_a_number_rests_after_its_gang(world: World, pair: list[Node]) -> None:
    first, second = placed(world, pair), placed(world, pair)
    assert (first.network_number, second.network_number) == (1, 2)
    with acting(platform()):
        for attempt in (first, second):
            Attempt.objects.filter(pk=attempt.pk).update(ended_at=Now())
        assert gang_networks.number_for({node.pk for node in pair}) == 3


def test_the_number_of_a_gang_that_was_given_up_stays_taken(world: World, pair: list[Node]) -> None:
    lost, last = placed(world, pair), placed(world, pair)
    with acting(platform()):
        Attempt.objects.filter(pk=lost.pk).update(ended_at=Now(), given_up_at=Now())
        Attempt.objects.filter(pk=last.pk).update(ended_at=Now(), network_number=LAST_NUMBER)
        assert gang_networks.number_for({node.pk for node in pair}) == 2
        Attempt.objects.filter(pk=lost.pk).update(gone_at=Now())
        assert gang_networks.number_for({node.pk for node in pair}) == 1


def test_the_database_refuses_a_number_twice(world: World, pair: list[Node]) -> None:
    first, second = placed(world, pair), placed(world, pair)
    with acting(platform()), pytest.raises(IntegrityError), transaction.atomic():
        Attempt.objects.filter(pk=second.pk).update(network_number=first.network_number)


def test_members_with_the_machines_own_network_stay_on_one_node(world: World) -> None:
    with acting(world.actor):
        spec = submit_workload(world, members=2).frozen_spec
    about = {
        "id": str(uuid4()), "organisation": "o", "department": "d", "user": "u", "priority": 3, "submitted_at": 0.0
    }  # fmt: skip
    gangs = [make_task(replace(spec, network=network), **about).gang for network in (False, True)]  # type: ignore[arg-type]
    assert [gang.one_node if gang else None for gang in gangs] == [False, True]


def test_only_operators_say_whether_a_network_is_trusted(world: World) -> None:
    with acting(world.actor), pytest.raises(Denied):
        clusters.set_trusted_network(world.actor, zone_id=world.node.cluster.zone_id, trusted=True)
    assert not Zone.objects.get(pk=world.node.cluster.zone_id).trusted_network


def test_what_was_said_is_recorded_once(world: World) -> None:
    for _each in range(2):
        trust(world)
    [entry] = Entry.objects.filter(action="zone.network")
    assert (entry.before, entry.after) == ({"trusted_network": False}, {"trusted_network": True})


def test_a_simulated_network_cannot_be_trusted(world: World) -> None:
    Zone.objects.filter(pk=world.node.cluster.zone_id).update(simulated=True)
    with pytest.raises(Conflict):
        trust(world)


def test_members_are_rows_of_their_own_nodes(world: World, pair: list[Node]) -> None:
    attempt = placed(world, pair)
    with acting(platform()):
        assert list(Member.objects.filter(attempt=attempt).order_by("rank").values_list("node", flat=True)) == [
            node.pk for node in pair
        ]
