"""RDMA devices are read from sysfs, kept with the node and shown on its page, with how near each card is."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from apps.clusters import rdma, services
from apps.clusters.card_links import Link, with_links
from apps.clusters.cards import Card
from apps.clusters.discovery import Machine
from apps.clusters.models import Node
from apps.clusters.rdma import RdmaDevice, RdmaPort
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole
from tests.builders import make_staff, platform, signed_in

SWITCH = "pci0000:00/0000:00:01.0/0000:02:00.0"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An InfiniBand adapter below one switch with a card, and one of no PCI address, as a software one has none."""
    pci = {"0000:04:00.0": f"{SWITCH}/0000:03:00.0/0000:04:00.0", "0000:05:00.0": f"{SWITCH}/0000:03:01.0/0000:05:00.0"}
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    for address, path in pci.items():
        folder = tmp_path / "sys/devices" / path
        folder.mkdir(parents=True)
        (folder / "numa_node").write_text("1\n")
        (tmp_path / "sys/bus/pci/devices" / address).symlink_to(folder)
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    port.mkdir(parents=True)
    for name, text in (("state", "4: ACTIVE"), ("link_layer", "InfiniBand"), ("rate", "400 Gb/sec (4X NDR)")):
        (port / name).write_text(f"{text}\n")
    (tmp_path / "sys/class/infiniband/mlx5_0/device").symlink_to(tmp_path / "sys/devices" / pci["0000:05:00.0"])
    (tmp_path / "sys/class/infiniband/rxe0/ports/1").mkdir(parents=True)
    verbs = tmp_path / "sys/class/infiniband_verbs/uverbs0"
    verbs.mkdir(parents=True)
    (verbs / "ibdev").write_text("mlx5_0\n")
    return tmp_path


def found(root: Path) -> tuple[tuple[Card, ...], tuple[RdmaDevice, ...]]:
    cards = with_links([Card("GPU-1", 0, "nvidia", "H100", 81_920, pci="0000:04:00.0")], root)
    return cards, rdma.with_card_links(rdma.devices(root), cards, root)


def test_devices_are_read_with_their_ports_and_how_near_the_cards_are(root: Path) -> None:
    _cards, (adapter, soft) = found(root)
    assert adapter == RdmaDevice(
        "mlx5_0", "uverbs0", "0000:05:00.0", 1, (RdmaPort(1, "ACTIVE", "InfiniBand", "400 Gb/sec (4X NDR)"),),
        (("GPU-1", Link.PIX),),
    )  # fmt: skip
    assert adapter.is_active
    assert soft == RdmaDevice("rxe0", ports=(RdmaPort(1, "", "", ""),))
    assert not soft.is_active


def test_a_machine_without_any_has_none(tmp_path: Path) -> None:
    assert rdma.devices(tmp_path) == ()


def test_it_goes_over_the_wire_and_old_machines_say_nothing_of_it(root: Path) -> None:
    cards, devices = found(root)
    machine = Machine("box", "x86_64", 8000, 64_000, 1000, 100_000, 50_000, 12.5, {}, cards, rdma=devices)
    told = json.loads(json.dumps(asdict(machine)))
    assert Machine.from_json(told) == machine
    del told["rdma"]
    assert Machine.from_json(told).rdma == ()


@pytest.mark.django_db
def test_the_page_of_the_node_shows_them(root: Path) -> None:
    cards, devices = found(root)
    machine = Machine("box", "x86_64", 8000, 64_000, 1000, 100_000, 50_000, 12.5, {}, cards, rdma=devices)
    with acting(platform()) as actor:
        node = services.upsert_machine(actor, driver="local", machine=machine, isolation="L1", isolation_reason="")
        ops = signed_in(make_staff(PlatformRole.OPS))
        assert [RdmaDevice.from_json(kept) for kept in Node.objects.get(pk=node.pk).rdma] == list(devices)
    page = ops.get(f"/console/nodes/{node.pk}/").content.decode()
    assert "RDMA devices" in page
    assert "1 · ACTIVE · InfiniBand · 400 Gb/sec (4X NDR)" in page
    assert page.count("PIX</td>") == 1
