"""What drivers find and have ready: asked of whichever driver offers it, under any name."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from apps.clusters.discovery import Machine
from apps.clusters.models import Node
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.registry.picker import is_installed
from apps.workloads import nodes
from apps.workloads.drivers.base import Isolation, IsolationLevel, RuntimeImage
from apps.workloads.drivers.capabilities import FoundNode
from apps.workloads.drivers.said import Code, Said
from apps.workloads.hardware import discovery
from apps.workloads.isolation import refuse_unless_trusted
from apps.workloads.words import isolation_words
from tests.builders import World, make_organisation, platform


@dataclass
class Cluster:
    """A driver of many machines, none of which is the platform's own."""

    ready: set[RuntimeImage] = field(default_factory=set)
    names: list[str] = field(default_factory=lambda: ["rack-1", "rack-2"])

    def nodes(self) -> list[FoundNode]:
        isolation = Isolation(IsolationLevel.L0, (Said(Code.BUBBLEWRAP_MISSING),))
        return [FoundNode(f"id-{index}", _machine(name), isolation) for index, name in enumerate(self.names)]

    def has_image(self, image: RuntimeImage) -> bool:
        return image in self.ready


def _machine(name: str) -> Machine:
    return Machine(name, "x86_64", 8000, 64_000, 1000, 100_000, 50_000, 12.5, {"os": "Linux"}, ())


@pytest.fixture
def cluster(world: World, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster()
    registered: dict[str, Any] = {"cluster": lambda: found}
    monkeypatch.setattr(nodes, "_DRIVERS", registered)
    return found


def discover() -> list[Node]:
    with acting(platform()):
        return discovery.discover(platform())


def test_a_driver_finds_several_machines_and_knows_each_again(cluster: Cluster) -> None:
    first = discover()
    cluster.names = ["renamed", "rack-2"]
    again = discover()
    assert [node.pk for node in again] == [node.pk for node in first]
    assert [(node.name, node.driver, node.isolation) for node in again] == [
        ("rack-1", "cluster", "L0"),
        ("rack-2", "cluster", "L0"),
    ]
    assert {node.cluster.zone.name for node in again} == {"cluster"}
    assert isolation_words(again[0].isolation_reason) == "bubblewrap (bwrap) is not installed."


def test_such_a_machine_is_not_the_platforms_own(cluster: Cluster) -> None:
    assert not any(nodes.is_own_machine(node) for node in discover())


def test_an_image_is_ready_where_a_driver_says_so(cluster: Cluster) -> None:
    image = Image(key="made", requirements=["numpy==2.3.5"])
    assert not is_installed(image)
    cluster.ready.add(RuntimeImage("made", ("numpy==2.3.5",)))
    assert is_installed(image)


@pytest.mark.parametrize(
    ("said", "remedy"), [(Code.BUBBLEWRAP_MISSING, "installing bubblewrap"), (Code.ISOLATION_OFF, "ALLOW_SHARED_L0")]
)
def test_what_to_do_about_isolation_follows_from_what_the_driver_says(world: World, said: Code, remedy: str) -> None:
    column = Isolation(IsolationLevel.L0, (Said(said),)).column
    Node.objects.update(isolation="L0", isolation_reason=column)
    with acting(platform()):
        other = make_organisation()
        with pytest.raises(Exception, match="cannot keep organisations apart") as refusal:
            refuse_unless_trusted(other.pk)
    hint = str(refusal.value.hint)  # type: ignore[attr-defined]
    assert remedy in hint
    assert ("bubblewrap" in hint) == (said is Code.BUBBLEWRAP_MISSING)
