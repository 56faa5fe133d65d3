"""Clusters that are given to organisations: nobody else sees or uses them, and what runs is left alone."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from apps.clusters import services
from apps.clusters.models import Accelerator, ClusterGrant, LogicalCluster, Node
from apps.clusters.selectors import cluster_choices, cluster_named
from apps.common.errors import Conflict, Denied, DomainError, Invalid, NotFound
from apps.common.scoping import acting
from apps.workloads.choices import Status
from apps.workloads.forecast import forecasts
from apps.workloads.hardware.moving import move_node
from apps.workloads.models import Attempt, Workload
from apps.workloads.offers.possible import obstacles
from apps.workloads.offers.quoting import resources_of
from apps.workloads.reconcile import starting
from apps.workloads.validation import refuse_nonsense
from scheduler import Place, Plan, Slice
from tests.builders import World, actor_of, make_member, make_organisation, platform, reload
from tests.console.kit import count_entries
from tests.workloads.cards import make_gpu_package, scheduled, submit_on, world_of_cards


@pytest.fixture
def lab(db: None) -> Iterator[World]:
    """Two H200 on one machine, whose cluster is reserved for nobody yet."""
    with acting(platform()):
        world = world_of_cards(2)
        services.reserve_cluster(platform(), cluster_id=world_cluster().pk, reserved=True)
        yield world


def world_cluster() -> LogicalCluster:
    return LogicalCluster.objects.get(name="default")


def give(world: World, cluster: LogicalCluster | None = None) -> None:
    cluster_id = (cluster or world_cluster()).pk
    services.give_cluster(platform(), cluster_id=cluster_id, organisation_id=world.organisation.pk)


def withdraw(world: World) -> None:
    services.withdraw_cluster(platform(), cluster_id=world_cluster().pk, organisation_id=world.organisation.pk)


def another_cluster(name: str = "theirs", *, reserved: bool = True) -> LogicalCluster:
    made = services.create_cluster(platform(), zone_id=world_cluster().zone_id, name=name)
    return services.reserve_cluster(platform(), cluster_id=made.pk, reserved=reserved)


def cause(workload: Workload) -> str:
    return str(scheduled(workload).explanation["cause"])


def planned(workload: Workload, node: Node) -> Plan:
    """A decision that was made before something changed."""
    card = Accelerator.objects.filter(node=node).first()
    assert card is not None
    whole = Slice(str(card.pk), card.memory_mib, 1000)
    return Plan((Place(str(workload.pk), str(node.pk), (whole,)),))


def test_work_waits_with_the_reason_and_starts_once_the_cluster_is_given(lab: World) -> None:
    workload = submit_on(lab.actor, make_gpu_package())
    assert cause(workload) == "reserved"
    give(lab)
    assert scheduled(workload).status == Status.PLACED
    assert [count_entries(f"cluster.{act}") for act in ("reserved", "given")] == [1, 1]


def test_others_wait_beside_free_cards_while_those_who_have_the_right_start(lab: World) -> None:
    give(lab)
    others = make_organisation(balance_fen=1_000_000)
    stranger = actor_of(make_member(others, "charlie"), others)
    package = make_gpu_package()
    first, own = submit_on(stranger, package), submit_on(lab.actor, package)
    assert cause(first) == "reserved"
    assert reload(own).status == Status.PLACED


def test_whoever_loses_the_right_keeps_what_runs_and_starts_nothing_new(lab: World) -> None:
    give(lab)
    package = make_gpu_package()
    running, cluster = scheduled(submit_on(lab.actor, package)), world_cluster()
    withdraw(lab)
    waiting = submit_on(lab.actor, package)
    assert cause(waiting) == "reserved"
    assert reload(running).status == Status.PLACED
    assert Attempt.objects.get(workload=running).ended_at is None
    with pytest.raises(Invalid, match="no such logical cluster"):
        refuse_nonsense(replace(resources_of(package), cluster=str(cluster.pk)), lab.organisation.pk)


def test_a_right_that_ends_between_plan_and_start_ends_the_start(lab: World) -> None:
    """The plan was made while the organisation had the right: its placement is dropped, and nothing is lost."""
    give(lab)
    node = Node.objects.get()
    workload = submit_on(lab.actor, make_gpu_package())
    withdraw(lab)
    assert starting.start(platform(), planned(workload, node)).placed == []
    assert reload(workload).status == Status.QUEUED
    give(lab)
    assert starting.start(platform(), planned(workload, node)).placed == [workload.pk]


def test_a_node_that_moved_between_plan_and_start_takes_nothing_that_may_not_follow(lab: World) -> None:
    give(lab)
    node, package = Node.objects.get(), make_gpu_package()
    bound, free = submit_on(lab.actor, package, cluster=node.cluster_id), submit_on(lab.actor, package)
    open_to_all = another_cluster("open", reserved=False)
    move_node(platform(), node_id=node.pk, cluster_id=open_to_all.pk)
    assert starting.start(platform(), planned(bound, node)).placed == []
    assert starting.start(platform(), planned(free, node)).placed == [free.pk]


def test_the_picker_and_the_quote_know_it_before_anybody_submits(lab: World) -> None:
    package = make_gpu_package()
    spec = resources_of(package)
    (outlook,) = forecasts(lab.actor, [spec])
    assert (outlook.starts_now, outlook.explanation["cause"]) == (False, "reserved")
    give(lab)
    (outlook,) = forecasts(lab.actor, [spec])
    assert outlook.starts_now
    withdraw(lab)
    assert not obstacles([package])  # somebody could be given it: no fault of the package


def test_only_those_who_may_use_a_cluster_see_it(lab: World) -> None:
    theirs, public = another_cluster(), another_cluster("public", reserved=False)
    give(lab, theirs)
    others = make_organisation()
    with acting(lab.actor):
        assert {pk for pk, _name in cluster_choices()} == {theirs.pk, public.pk}
        assert cluster_named(theirs.pk) == str(theirs.pk)
    with acting(actor_of(make_member(others, "charlie"), others)):
        assert [pk for pk, _name in cluster_choices()] == [public.pk]
        assert cluster_named(theirs.pk) is None


def test_a_cluster_of_others_is_refused_as_one_that_does_not_exist(lab: World) -> None:
    theirs = another_cluster()
    spec = resources_of(make_gpu_package())
    told = set()
    for cluster in (str(theirs.pk), str(uuid4()), "no id"):
        with pytest.raises(Invalid) as refusal:
            refuse_nonsense(replace(spec, cluster=cluster), lab.organisation.pk)
        told.add(str(refusal.value.fields))
    assert len(told) == 1
    give(lab, theirs)
    refuse_nonsense(replace(spec, cluster=str(theirs.pk)), lab.organisation.pk)


def test_an_open_cluster_is_not_given_and_what_was_given_is_kept_while_it_is_open(lab: World) -> None:
    give(lab)
    give(lab)
    assert ClusterGrant.objects.count() == 1
    services.reserve_cluster(platform(), cluster_id=world_cluster().pk, reserved=False)
    with pytest.raises(Conflict):
        give(lab)
    services.reserve_cluster(platform(), cluster_id=world_cluster().pk, reserved=True)
    assert scheduled(submit_on(lab.actor, make_gpu_package())).status == Status.PLACED


@pytest.mark.parametrize("missing", ["cluster", "organisation", "grant"])
def test_what_does_not_exist_is_not_found(lab: World, missing: str) -> None:
    cluster = uuid4() if missing == "cluster" else world_cluster().pk
    organisation = uuid4() if missing == "organisation" else lab.organisation.pk
    with pytest.raises(NotFound):
        services.withdraw_cluster(platform(), cluster_id=cluster, organisation_id=organisation)
    if missing != "grant":
        with pytest.raises(NotFound):
            services.give_cluster(platform(), cluster_id=cluster, organisation_id=organisation)


def test_a_node_moves_inside_its_zone_while_nothing_is_on_it(lab: World) -> None:
    node, theirs = Node.objects.get(), another_cluster()
    move_node(platform(), node_id=node.pk, cluster_id=theirs.pk)
    assert Node.objects.get().cluster_id == theirs.pk
    assert count_entries("node.moved") == 1
    elsewhere = services.create_zone(platform(), name="East").clusters.get()
    refused(node.pk, elsewhere.pk, Invalid)
    refused(node.pk, uuid4(), Invalid)
    refused(node.pk, theirs.pk, Conflict)
    refused(uuid4(), theirs.pk, NotFound)


def refused(node_id: UUID, cluster_id: UUID, error: type[DomainError]) -> None:
    with pytest.raises(error):
        move_node(platform(), node_id=node_id, cluster_id=cluster_id)


def test_a_node_with_work_stays_where_it_is(lab: World) -> None:
    give(lab)
    workload = submit_on(lab.actor, make_gpu_package())
    scheduled(workload)
    node, theirs = Node.objects.get(), another_cluster()
    with pytest.raises(Conflict, match="run"):
        move_node(platform(), node_id=node.pk, cluster_id=theirs.pk)
    assert Node.objects.get().cluster_id == node.cluster_id


def test_a_move_opens_and_closes_the_node_for_those_who_wait(lab: World) -> None:
    node, open_to_all = Node.objects.get(), another_cluster("open", reserved=False)
    workload = submit_on(lab.actor, make_gpu_package())
    assert cause(workload) == "reserved"
    move_node(platform(), node_id=node.pk, cluster_id=open_to_all.pk)
    assert scheduled(workload).status == Status.PLACED


def test_who_may_not_manage_nodes_changes_nothing(lab: World) -> None:
    node, theirs = Node.objects.get(), another_cluster()
    with pytest.raises(Denied):
        move_node(lab.actor, node_id=node.pk, cluster_id=theirs.pk)
    with pytest.raises(Denied):
        services.reserve_cluster(lab.actor, cluster_id=theirs.pk, reserved=False)
    with pytest.raises(Denied):
        services.give_cluster(lab.actor, cluster_id=theirs.pk, organisation_id=lab.organisation.pk)
    assert not ClusterGrant.objects.exists()
