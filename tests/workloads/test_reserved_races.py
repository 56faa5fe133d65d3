"""A start and the end of a right at the same moment, on two connections: one of them waits for the other."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.db.utils import OperationalError

from apps.clusters import services
from apps.clusters.models import LogicalCluster, Node
from apps.clusters.rights import lock_places
from apps.common.scoping import acting
from apps.workloads.hardware.moving import move_node
from tests.builders import World, make_world, platform

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    """With its node in a cluster that is reserved and given to its organisation, beside an empty one."""
    with acting(platform()):
        made = make_world()
        cluster = made.node.cluster
        LogicalCluster.objects.create(zone=cluster.zone, name="other")
        services.reserve_cluster(platform(), cluster_id=cluster.pk, reserved=True)
        services.give_cluster(platform(), cluster_id=cluster.pk, organisation_id=made.organisation.pk)
    return made


def withdraw(world: World) -> None:
    services.withdraw_cluster(platform(), cluster_id=world.node.cluster_id, organisation_id=world.organisation.pk)


def move(world: World) -> None:
    move_node(platform(), node_id=world.node.pk, cluster_id=LogicalCluster.objects.get(name="other").pk)


def start(world: World) -> None:
    with transaction.atomic():
        lock_places([world.node.pk], [world.organisation.pk])


def measure(world: World) -> None:
    Node.objects.filter(pk=world.node.pk).update(disk_free_mib=7)


def has_to_wait(world: World, act: Callable[[World], None]) -> bool:
    """Whether the act, on a connection of its own, meets a lock."""

    def elsewhere() -> None:
        try:
            with acting(platform()), transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL lock_timeout = '200ms'")
                act(world)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        error = pool.submit(elsewhere).exception(30)
    if error is not None and not (isinstance(error, OperationalError) and "lock timeout" in str(error)):
        raise error
    return error is not None


@pytest.mark.parametrize("act", [withdraw, move])
def test_a_pass_that_starts_work_is_finished_first(world: World, act: Callable[[World], None]) -> None:
    with acting(platform()):
        with transaction.atomic():
            locked = lock_places([world.node.pk], [world.organisation.pk])
            assert locked.may_start(world.organisation.pk, [world.node.pk], None)
            assert has_to_wait(world, act)
            assert not has_to_wait(world, measure)
            assert not has_to_wait(world, start)
        assert not has_to_wait(world, act)
        locked = lock_places([world.node.pk], [world.organisation.pk])
        assert locked.may_start(world.organisation.pk, [world.node.pk], None) == (act is move)
        assert not locked.may_start(world.organisation.pk, [world.node.pk], str(world.node.cluster_id))


@pytest.mark.parametrize("act", [withdraw, move])
def test_what_ends_a_right_is_finished_before_a_start_is_decided(world: World, act: Callable[[World], None]) -> None:
    with acting(platform()):
        with transaction.atomic():
            act(world)
            assert has_to_wait(world, start)
        assert not has_to_wait(world, start)
