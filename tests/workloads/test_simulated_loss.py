"""A simulated machine that is switched off and on: lost, its work elsewhere, and clean when it is back."""

from collections.abc import Iterator

import pytest

from apps.clusters import services as clusters
from apps.clusters.models import Node
from apps.common.errors import Conflict
from apps.workloads import nodes
from apps.workloads.choices import Reason, Status
from apps.workloads.drivers.base import CannotSee, Handle
from apps.workloads.hardware import lost, silence, simulation
from apps.workloads.models import Attempt, Workload
from tests.builders import World, platform, reload
from tests.workloads.machines import pass_silence
from tests.workloads.test_gangs_simulated import received
from tests.workloads.test_preempt import finish
from tests.workloads.test_preempt_simulated import run

pytestmark = pytest.mark.programs


@pytest.fixture
def zone(world: World) -> Iterator[World]:
    nodes.simulated_driver.cache_clear()
    found = clusters.add_simulated_zone(platform(), isolation="L1", isolation_reason="")
    clusters.offer_packages(platform(), zone_id=found.pk)
    yield world
    Node.objects.update(switched_off=False)
    finish(*Workload.objects.exclude(ended_at__isnull=False))
    nodes.simulated_driver.cache_clear()


def test_off_it_is_lost_and_on_it_is_clean(zone: World) -> None:
    workload = run(zone)
    old = Attempt.objects.select_related("node").get(workload=workload)
    simulation.switch(platform(), node_id=old.node_id, on=False)
    with pytest.raises(CannotSee):
        nodes.simulated_driver().observe(Handle("simulated", old.node.name, str(old.pk)))
    silence.declare_silent_nodes_lost(platform())
    pass_silence(6)
    assert Node.objects.get(pk=old.node_id).lost_at is not None
    lost.advance(platform())
    assert (reload(workload).status, workload.reason) == (Status.QUEUED, Reason.LOST)
    simulation.switch(platform(), node_id=old.node_id, on=True)
    assert received(Node.objects.get(pk=old.node_id))
    old.refresh_from_db()
    assert old.gone_at is not None


def test_declared_lost_its_work_goes_at_once(zone: World) -> None:
    workload = run(zone)
    node = Attempt.objects.get(workload=workload).node
    simulation.switch(platform(), node_id=node.pk, on=False)
    lost.declare(platform(), node_id=node.pk)
    assert reload(workload).status == Status.QUEUED, "who shares no storage is not waited for"
    assert simulation.beat(platform(), nodes.simulated_driver().isolation()) == 3


def test_a_real_machine_has_no_such_switch(zone: World) -> None:
    with pytest.raises(Conflict):
        simulation.switch(platform(), node_id=zone.node.pk, on=False)
