"""Work on a package with RDMA: where it starts, what it is told while it waits, and a link that goes down."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from apps.billing import services as billing
from apps.billing.models import Package
from apps.clusters import rdma
from apps.clusters.models import Node
from apps.clusters.rdma import RdmaDevice, RdmaPort
from apps.common.scoping import acting
from apps.workloads.choices import Fault, Reason, Status
from apps.workloads.drivers.base import Handle, LaunchRefused, LaunchRequest
from apps.workloads.drivers.errors import LINK_DOWN
from apps.workloads.drivers.local.driver import LocalDriver
from apps.workloads.drivers.said import Code, Said
from apps.workloads.models import Attempt, Workload
from apps.workloads.offers.possible import obstacles
from apps.workloads.reconcile import topology_version
from apps.workloads.reconcile.launch import launch_request
from apps.workloads.waiting import explain
from tests.builders import World, make_node, make_world, platform, reload, unique
from tests.workloads.cards import scheduled, submit_on
from tests.workloads.loops import tick


@pytest.fixture
def world(db: None) -> Iterator[World]:
    with acting(platform()):
        yield make_world(balance_fen=1_000_000)


@pytest.fixture
def package(world: World) -> Package:
    name = unique("RDMA")
    spec = billing.PackageSpec(name_en=name, name_zh=name, cpu_milli=1000, memory_mib=512, rdma=True)
    return billing.create_package(platform(), spec=spec, rate_fen_per_hour=Decimal(360))


def wire(node: Node, state: str = "ACTIVE") -> None:
    device = RdmaDevice("mlx5_0", "uverbs0", ports=(RdmaPort(1, state, "InfiniBand", "400 Gb/sec (4X NDR)"),))
    Node.objects.filter(pk=node.pk).update(rdma=rdma.as_json([device]))


def cause(workload: Workload) -> str:
    return str(scheduled(workload).explanation["cause"])


def place_of(workload: Workload) -> Node:
    assert scheduled(workload).status == Status.PLACED
    return Attempt.objects.get(workload=workload, ended_at__isnull=True).node


def test_it_waits_for_a_machine_with_an_adapter_and_starts_there(world: World, package: Package) -> None:
    workload, plain = submit_on(world.actor, package), submit_on(world.actor, world.package)
    assert cause(workload) == "rdma"
    assert reload(plain).status == Status.PLACED
    assert obstacles([package])[package.pk].title == "No machine with RDMA devices can run this"
    wired = make_node(name="ib-1")
    wire(wired)
    assert place_of(workload) == wired
    assert obstacles([package]) == {}
    attempt = Attempt.objects.get(workload=workload)
    assert launch_request(attempt).rdma
    assert not launch_request(Attempt.objects.get(workload=plain)).rdma


def test_a_node_whose_link_goes_down_takes_no_new_work_that_asks(world: World, package: Package) -> None:
    wire(world.node, "DOWN")
    workload = submit_on(world.actor, package)
    assert cause(workload) == "rdma_down"
    report = explain(reload(workload).explanation)
    assert (report.title, report.hopeless) == ("The RDMA links of the machines that fit are down", False)
    assert {"name": "rdma_down", "label": "RDMA link up", "count": 0} in report.funnel
    before = topology_version.digest(workload.queued_at, simulated=False)
    wire(world.node)
    assert topology_version.digest(workload.queued_at, simulated=False) != before
    assert place_of(workload) == world.node


def test_who_waits_for_room_is_told_which_machines_have_adapters(world: World, package: Package) -> None:
    wire(world.node)
    Node.objects.update(cpu_milli=1500)
    first, second = submit_on(world.actor, package), submit_on(world.actor, package)
    place_of(first)
    assert cause(second) == "cpu"
    said = explain(reload(second).explanation).text
    assert f"It needs RDMA, which these machines have: {world.node.name}." in said
    for number in range(7):
        wire(make_node(cpu_milli=100, name=f"ib-{number}"))
    assert cause(second) == "cpu"
    assert "and 2 others." in explain(reload(second).explanation).text


def test_a_link_that_went_down_after_the_pass_sends_it_back_into_the_queue(
    world: World, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(self: LocalDriver, request: LaunchRequest) -> Handle:
        raise LaunchRefused(LINK_DOWN, Said(Code.RDMA_DOWN))

    monkeypatch.setattr(LocalDriver, "launch", down)
    wire(world.node)
    workload = submit_on(world.actor, package)
    tick()
    found = reload(workload)
    assert (found.status, found.reason, found.fault) == (Status.QUEUED, Reason.RDMA_DOWN, Fault.NODE)
    assert Attempt.objects.get(workload=workload).ended_at is not None
