"""How cards are connected is read from the driver, or from the tree of PCI devices, and shown and used as it is."""

import json
from dataclasses import asdict
from pathlib import Path

import pynvml
import pytest

from apps.clusters import card_links, geometry, nvidia, services
from apps.clusters.card_links import Link, with_links
from apps.clusters.discovery import Card, Machine
from apps.clusters.models import Accelerator, Node
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole
from apps.workloads.reconcile import snapshot
from tests.builders import make_staff, platform, signed_in
from tests.drivers.fake_nvml import FakeCard, install

# Two sockets; the first has a switch with two cards, another switch with one, and a card at a port of its own.
PLACES = {
    "0000:04:00.0": ("pci0000:00/0000:00:01.0/0000:02:00.0/0000:03:00.0/0000:04:00.0", "0"),
    "0000:05:00.0": ("pci0000:00/0000:00:01.0/0000:02:00.0/0000:03:01.0/0000:05:00.0", "0"),
    "0000:09:00.0": ("pci0000:00/0000:00:01.0/0000:02:00.0/0000:03:02.0/0000:07:00.0/0000:08:00.0/0000:09:00.0", "0"),
    "0000:0a:00.0": ("pci0000:00/0000:00:02.0/0000:0a:00.0", "0"),
    "0000:4a:00.0": ("pci0000:40/0000:40:01.0/0000:4a:00.0", "0"),
    "0000:84:00.0": ("pci0000:80/0000:80:01.0/0000:84:00.0", "1"),
    "0000:c4:00.0": ("pci0000:c0/0000:c0:01.0/0000:c4:00.0", "-1"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree as the kernel shows it: devices below their bridges, and links to them by address."""
    listed = tmp_path / "sys/bus/pci/devices"
    listed.mkdir(parents=True)
    for address, (path, numa) in PLACES.items():
        folder = tmp_path / "sys/devices" / path
        folder.mkdir(parents=True)
        (folder / "numa_node").write_text(f"{numa}\n")
        (listed / address).symlink_to(folder)
    return tmp_path


def card(name: str, pci: str, index: int = 0, vendor: str = "amd", **values: object) -> Card:
    return Card(name, index, vendor, "MI300X", 196_608, pci=pci, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("other", "link"),
    [
        ("0000:04:00.0", Link.PIX),  # two parts of one card
        ("0000:05:00.0", Link.PIX),
        ("0000:09:00.0", Link.PXB),
        ("0000:0a:00.0", Link.PHB),
        ("0000:4a:00.0", Link.NODE),
        ("0000:84:00.0", Link.SYS),
        ("0000:c4:00.0", Link.SYS),  # nobody knows its NUMA node
    ],
)
def test_the_tree_of_devices_says_how_two_cards_are_connected(root: Path, other: str, link: Link) -> None:
    first, second = with_links([card("a", "0000:04:00.0"), card("b", other, 1)], root)
    assert first.links == (("b", link),)
    assert second.links == (("a", link),)
    assert first.numa == 0


def test_what_the_driver_says_wins_and_strangers_are_not_linked(root: Path) -> None:
    told = card("a", "0000:04:00.0", links=(("b", "NV12"),))
    first, second, other, lost = with_links(
        [told, card("b", "0000:05:00.0"), card("c", "0000:05:00.0", vendor="huawei"), card("d", "../../etc")], root
    )
    assert first.links == (("b", "NV12"),)
    assert second.links == (("a", Link.PIX),)
    assert (other.links, other.numa) == ((), 0)
    assert (lost.links, lost.numa) == ((), None)


def test_nearer_links_are_shorter() -> None:
    names = ["NV18", "NV4", "NV1", *Link]
    found = [card_links.distance(name) for name in names]
    assert found == sorted(found, key=lambda far: far or 0)
    assert len(set(found)) == len(names)
    assert [card_links.distance(odd) for odd in ("", "NV0", "NV", "NV100", "nv2", "X")] == [None] * 6
    assert max(far for far in found if far) < 1000  # what the scheduler takes for unknown
    assert card_links.sensible_links([("a", "NV2"), ("b", "<b>"), ("c", Link.SYS)]) == {"a": "NV2", "c": "SYS"}


def test_nvml_tells_bridged_cards_from_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two joined by a bridge of four links, of which one is down; the third on the other socket."""
    up = [(True, "00000000:3B:00.0")] * 3 + [(False, "00000000:3B:00.0")]
    back = [(True, "00000000:18:00.0")] * 3
    levels = {"c": pynvml.NVML_TOPOLOGY_SYSTEM}
    install(
        monkeypatch,
        FakeCard(uuid="a", nvlinks=up, levels=levels),
        FakeCard(uuid="b", pci="00000000:3B:00.0", nvlinks=back, levels=levels),
        FakeCard(uuid="c", pci="00000000:86:00.0"),
    )
    first, second, third = nvidia.cards()
    assert (first.pci, second.pci) == ("0000:18:00.0", "0000:3b:00.0")
    assert first.links == (("b", "NV3"), ("c", "SYS"))
    assert second.links == (("a", "NV3"), ("c", "SYS"))
    assert third.links == (("a", "SYS"), ("b", "SYS"))


def test_nvml_counts_the_links_through_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [FakeCard(uuid=f"g{number}", pci=f"00000000:{number:02X}:00.0", nvlinks=[(True, "")] * 18)
            for number in range(4)]  # fmt: skip
    install(monkeypatch, *made)
    for found in nvidia.cards():
        assert [link for _peer, link in found.links] == ["NV18"] * 3


def test_a_machine_tells_it_over_the_wire(root: Path) -> None:
    first, _second = with_links([card("a", "0000:04:00.0"), card("b", "0000:84:00.0")], root)
    assert Card.from_json(json.loads(json.dumps(asdict(first)))) == first
    old = {name: value for name, value in asdict(first).items() if name not in ("pci", "numa", "links")}
    assert Card.from_json(old).links == ()


@pytest.fixture
def node(db: None, root: Path) -> Node:
    found = with_links([card("a", "0000:04:00.0"), card("b", "0000:84:00.0", 1), card("c", "0000:05:00.0", 2)], root)
    machine = Machine("box", "x86_64", 8000, 64_000, 1000, 100_000, 50_000, 12.5, {}, found)
    with acting(platform()) as actor:
        return services.upsert_machine(actor, driver="local", machine=machine, isolation="L1", isolation_reason="")


def test_the_scheduler_is_told_by_the_cards_ids(node: Node) -> None:
    with acting(platform()):
        ids = dict(Accelerator.objects.values_list("uuid", "pk"))
        (seen,) = [each for each in snapshot.nodes(db_now(), False) if each.id == str(node.pk)]
    near = {device.id: dict(device.near) for device in seen.devices}
    pix, system = card_links.distance(Link.PIX), card_links.distance(Link.SYS)
    assert near[str(ids["a"])] == {str(ids["b"]): system, str(ids["c"]): pix}
    assert geometry.device(Accelerator(index=0, mode="whole")).near == ()


def test_the_page_of_the_node_shows_the_matrix(node: Node) -> None:
    with acting(platform()):
        ops = signed_in(make_staff(PlatformRole.OPS))
    page = ops.get(f"/console/nodes/{node.pk}/").content.decode()
    assert "Topology" in page
    assert page.count("SYS</td>") == 4
    assert page.count("PIX</td>") == 2
    assert "0000:84:00.0" in page
