"""What no machine could ever run is said to those who offer it, before anybody waits for it."""

from collections.abc import Iterator

import pytest

from apps.billing.choices import GpuMode
from apps.billing.models import Package
from apps.clusters.models import Accelerator, Node
from apps.common.scoping import acting
from apps.workloads.offers.possible import obstacles
from tests.builders import World, platform
from tests.workloads.cards import make_gpu_node, make_gpu_package, scheduled, submit_on, world_of_cards


@pytest.fixture
def lab(db: None) -> Iterator[World]:
    """Two H200 on one machine and nothing else."""
    with acting(platform()):
        yield world_of_cards(2)


def titles(*packages: Package) -> list[str | None]:
    with acting(platform()):
        found = obstacles(packages)
    return [words.title if (words := found.get(package.pk)) else None for package in packages]


def test_each_package_is_told_its_own_obstacle(lab: World) -> None:
    assert titles(
        lab.package,
        make_gpu_package(2),
        make_gpu_package(3),
        make_gpu_package(1, model="H900"),
        make_gpu_package(1, mode=GpuMode.SHARED, memory_mib=1024),
    ) == [
        None,
        None,
        "No machine is large enough",
        "No machine has this GPU model: H900",
        "No H200 is handed out shared",
    ]


def test_work_in_the_way_is_no_obstacle(lab: World) -> None:
    both = make_gpu_package(2)
    scheduled(submit_on(lab.actor, both))
    assert titles(both) == [None]


def test_a_machine_that_joins_removes_it(lab: World) -> None:
    four = make_gpu_package(4)
    assert titles(four) == ["No machine is large enough"]
    with acting(platform()):
        make_gpu_node(cards=4, name="gpu-a02")
    assert titles(four) == [None]


def test_without_a_machine_nothing_fits(lab: World) -> None:
    with acting(platform()):
        Accelerator.objects.all().delete()
        Node.objects.all().delete()
    assert titles(lab.package) == ["There is no machine yet"]
