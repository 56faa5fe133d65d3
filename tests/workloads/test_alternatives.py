"""What would start now instead of waiting: packages that exist, may be used, are paid for and are large enough."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from apps.billing.choices import GpuMode
from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.tenants import quotas
from apps.tenants.choices import Resource
from apps.workloads.models import Attempt, Workload
from apps.workloads.offers.alternatives import Alternatives, would_start_now
from tests.builders import World, actor_of, make_member, platform
from tests.workloads.cards import MEMORY_MIB, make_gpu_node, make_gpu_package, scheduled, submit_on, world_of_cards


@pytest.fixture
def lab(db: None) -> Iterator[World]:
    """Four H200 of which Bob holds three, and two idle L40S; Alice waits for two H200."""
    with acting(platform()):
        world = world_of_cards(4)
        make_gpu_node(cards=2, model="L40S", name="gpu-b01")
        yield world


@pytest.fixture
def waiting(lab: World) -> Workload:
    bob = make_member(lab.organisation, "bob", priority=4)
    scheduled(submit_on(actor_of(bob, lab.organisation), make_gpu_package(3), "bobs-run"))
    return scheduled(submit_on(lab.actor, make_gpu_package(2, rate_fen=2000), "alices-run"))


def found(lab: World, workload: Workload, attempts: list[Attempt] | None = None) -> Alternatives:
    with acting(lab.actor):
        return would_start_now(lab.actor, workload, attempts or [])


def test_only_packages_with_room_are_offered_the_most_alike_first(lab: World, waiting: Workload) -> None:
    one, other = make_gpu_package(1, rate_fen=1000), make_gpu_package(2, model="L40S", rate_fen=2600)
    make_gpu_package(4)
    rows = found(lab, waiting).rows
    assert [row.package.pk for row in rows] == [other.pk, one.pk]
    assert [row.more_fen_per_hour for row in rows] == [Decimal(600), Decimal(-1000)]
    assert rows[0].effects == ("L40S",)
    assert rows[1].effects == ("1 card instead of 2",)
    assert [row.room for row in rows] == [1, 1]


def test_training_that_asked_for_a_gpu_is_not_offered_to_do_without(lab: World, waiting: Workload) -> None:
    assert not found(lab, waiting).rows


def test_an_elastic_gang_is_offered_where_its_fewest_members_would_start(lab: World, waiting: Workload) -> None:
    small, size = make_gpu_package(1, model="L40S"), make_gpu_package(2, rate_fen=100)
    elastic = scheduled(submit_on(lab.actor, size, "elastic", members=5, least_members=1))
    whole = scheduled(submit_on(lab.actor, size, "whole", members=5))
    assert [row.package.pk for row in found(lab, elastic).rows] == [small.pk]
    assert not found(lab, whole).rows


def test_what_it_used_before_leaves_out_what_is_too_small(lab: World, waiting: Workload) -> None:
    small = make_gpu_package(1, model="L40S", mode=GpuMode.VGPU, memory_mib=MEMORY_MIB // 4)
    Node.objects.get(name="gpu-b01").accelerators.update(mode="vgpu", limiter="hami")
    assert [row.package.pk for row in found(lab, waiting).rows] == [small.pk]
    before = Attempt(workload=waiting, number=1, peak_gpu_memory_mib=MEMORY_MIB // 2, ran_for_s=900.0)
    judged = found(lab, waiting, [before])
    assert not judged.rows
    assert (judged.peak_mib, judged.too_small) == (MEMORY_MIB // 2, 1)


def test_a_weaker_isolation_is_said(lab: World, waiting: Workload) -> None:
    make_gpu_package(1, model="L40S", mode=GpuMode.VGPU, memory_mib=MEMORY_MIB // 4)
    Node.objects.get(name="gpu-b01").accelerators.update(mode="vgpu", limiter="hami")
    assert [row.weaker for row in found(lab, waiting).rows] == [True]


def test_money_counts_what_the_waiting_one_lets_go(lab: World, waiting: Workload) -> None:
    dear = make_gpu_package(2, model="L40S", rate_fen=999_000)
    beyond = make_gpu_package(1, model="L40S", rate_fen=1_001_000)
    offered = [row.package.pk for row in found(lab, waiting).rows]
    assert dear.pk in offered
    assert beyond.pk not in offered


def test_quota_counts_only_what_is_beyond_what_it_holds(lab: World, waiting: Workload) -> None:
    same, more = make_gpu_package(2, model="L40S"), make_gpu_package(1)
    quotas.set_limit(platform(), organisation_id=lab.organisation.pk, resource=Resource.GPU_MILLI, limit=5000)
    quotas.set_limit(
        platform(), organisation_id=lab.organisation.pk, resource=Resource.GPU_MILLI, model="L40S", limit=1000
    )
    assert [row.package.pk for row in found(lab, waiting).rows] == [more.pk]
    assert same.pk != more.pk


def test_nobody_is_offered_to_switch_what_is_a_colleagues(lab: World, waiting: Workload) -> None:
    make_gpu_package(1)
    colleague = actor_of(make_member(lab.organisation, "carol"), lab.organisation)
    with acting(colleague):
        assert would_start_now(colleague, waiting).rows == ()
