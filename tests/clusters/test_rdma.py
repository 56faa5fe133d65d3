"""RDMA devices are read from sysfs, kept with the node and shown on its page, with how near each card is."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from apps.clusters import rdma, services
from apps.clusters.card_links import Link, with_links
from apps.clusters.cards import Card
from apps.clusters.discovery import LOCKED_MEMORY, Machine
from apps.clusters.models import Node
from apps.clusters.rdma import RdmaDevice, RdmaPort
from apps.common.scoping import acting
from apps.tenants.choices import PlatformRole
from tests.builders import make_node, make_staff, platform, signed_in

PREFIX = "fe80:0000:0000:0001"
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
    (port / "gids").mkdir(parents=True)
    (port / "gids/0").write_text("fe80:0000:0000:0001:0c42:a103:0065:f2a0\n")
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
        "mlx5_0", "uverbs0", "0000:05:00.0", 1, (RdmaPort(1, "ACTIVE", "InfiniBand", "400 Gb/sec (4X NDR)", PREFIX),),
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
    assert f"given mlx5_0. Members of a gang share the fabric InfiniBand {PREFIX}" in page
    assert "1 · ACTIVE · InfiniBand · 400 Gb/sec (4X NDR)" in page
    assert page.count("PIX</td>") == 1


def adapter(name: str, state: str = "ACTIVE", layer: str = "InfiniBand", **fields: object) -> RdmaDevice:
    port = RdmaPort(1, state, layer, "", str(fields.pop("subnet", PREFIX)) if layer == "InfiniBand" else "")
    return replace(RdmaDevice(name, "uverbs0", ports=(port,)), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("devices", "name", "given"),
    [
        ([], "", []),
        ([adapter("ib0")], "InfiniBand fe80:0000:0000:0001", ["ib0"]),
        ([adapter("ib0", "DOWN")], "InfiniBand fe80:0000:0000:0001", []),
        ([adapter("ib0", "DOWN"), adapter("ib1")], "InfiniBand fe80:0000:0000:0001", ["ib1"]),
        ([adapter("roce0", layer="Ethernet")], "", []),
        ([adapter("ib0", verbs="")], "", []),
        ([adapter("ib0", shared=False)], "", []),
        ([adapter("ib0", subnet="")], "InfiniBand", ["ib0"]),
        ([adapter("a", subnet="x"), adapter("b", subnet="y"), adapter("c", subnet="y")], "InfiniBand y", ["b", "c"]),
        ([adapter("a", subnet="x"), adapter("b", subnet="y")], "InfiniBand x", ["a"]),
    ],
)
def test_the_fabric_is_the_one_with_most_links_up(devices: list[RdmaDevice], name: str, given: list[str]) -> None:
    """RoCE, adapters without a device node and such that the kernel keeps in the machine's network are not given."""
    found = rdma.fabric_of(devices)
    assert (found.name, [device.name for device in found.devices], found.is_active) == (name, given, bool(given))


def test_a_kernel_that_keeps_adapters_in_its_own_network_is_noticed(root: Path) -> None:
    assert all(device.shared for device in rdma.devices(root))
    mode = root / "sys/module/ib_core/parameters/netns_mode"
    mode.parent.mkdir(parents=True)
    mode.write_text("N\n")
    assert not any(device.shared for device in rdma.devices(root))


def test_locked_memory_is_unlimited_for_who_may_raise_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"hard": 64 * 1024 * 1024}
    monkeypatch.setattr(rdma.resource, "getrlimit", lambda _which: (0, limits["hard"]))
    monkeypatch.setattr(rdma, "_may_raise_limits", lambda: False)
    assert rdma.locked_memory_mib() == 64
    monkeypatch.setattr(rdma, "_may_raise_limits", lambda: True)
    assert rdma.locked_memory_mib() is None
    limits["hard"] = rdma.resource.RLIM_INFINITY
    monkeypatch.setattr(rdma, "_may_raise_limits", lambda: False)
    assert rdma.locked_memory_mib() is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("device", "facts", "told"),
    [
        (adapter("ib0"), {}, "Given to work that asks for RDMA"),
        (adapter("ib0", "DOWN"), {}, "Every link is down"),
        (adapter("roce0", layer="Ethernet"), {}, "RoCE adapters are shown only"),
        (adapter("ib0", shared=False), {}, "rdma system set netns shared"),
        (adapter("ib0", verbs=""), {}, "modprobe ib_uverbs"),
        (adapter("ib0"), {LOCKED_MEMORY: "64 MiB"}, "may lock only 64 MiB of memory here"),
    ],
)
def test_the_page_says_what_work_finds_and_what_would_mend_it(
    device: RdmaDevice, facts: dict[str, str], told: str
) -> None:
    with acting(platform()):
        node = make_node()
        Node.objects.filter(pk=node.pk).update(rdma=rdma.as_json([device]), facts=facts)
        ops = signed_in(make_staff(PlatformRole.OPS))
    assert told in ops.get(f"/console/nodes/{node.pk}/").content.decode()
    answer = ops.get(f"/api/v1/console/nodes/{node.pk}/").json()["rdma"]
    assert (answer["devices"], answer["active"]) == ([device.name], rdma.fabric_of([device]).is_active)


@pytest.mark.django_db
def test_a_node_without_any_says_nothing_of_it() -> None:
    with acting(platform()):
        node = make_node()
        ops = signed_in(make_staff(PlatformRole.OPS))
    assert "RDMA" not in ops.get(f"/console/nodes/{node.pk}/").content.decode()
    assert ops.get(f"/api/v1/console/nodes/{node.pk}/").json()["rdma"] is None
