"""RDMA devices of a machine, InfiniBand or RoCE, as the kernel shows them (its ABI document "sysfs-class-infiniband").

Read against trees that tests write: no machine with such a device has run this yet. All are shown to operators. Work
that asks for RDMA is given those of InfiniBand whose link is up. RoCE devices are not given out: their addresses belong
to a network interface of the machine, which a sandbox with a network of its own does not have.
"""

import resource
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from apps.clusters.card_links import link_between, pci_place, sensible_links
from apps.clusters.cards import Card

MOST_DEVICES, MOST_PORTS, LONGEST = 64, 16, 60
ACTIVE, INFINIBAND = "ACTIVE", "InfiniBand"
CAP_SYS_RESOURCE = 24


@dataclass(frozen=True, slots=True)
class RdmaPort:
    """`state`: ACTIVE, DOWN, …; `layer`: InfiniBand or Ethernet; `rate`: as the kernel says, `400 Gb/sec (4X NDR)`.

    `subnet`: of InfiniBand, the first half of the port's GID, which the subnet manager sets: `fe80:0000:0000:0000`.
    """

    number: int
    state: str
    layer: str
    rate: str
    subnet: str = ""

    @property
    def is_up(self) -> bool:
        return self.state == ACTIVE

    @property
    def fabric(self) -> str:
        """What its peers share with it; "" for a port that is not given out. Fabrics of one prefix look like one."""
        return f"{INFINIBAND} {self.subnet}".strip() if self.layer == INFINIBAND else ""


@dataclass(frozen=True, slots=True)
class RdmaDevice:
    """`verbs`: the name of its node in /dev/infiniband, "" without one. `links`: how near each card is, by uuid.

    `shared`: the kernel lets other network namespaces than the machine's use it (`rdma system set netns shared`).
    """

    name: str
    verbs: str = ""
    pci: str = ""
    numa: int | None = None
    ports: tuple[RdmaPort, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    shared: bool = True

    @property
    def is_active(self) -> bool:
        return any(port.is_up for port in self.ports)

    @property
    def fabrics(self) -> dict[str, bool]:
        """Through which fabrics work could use it, and whether it is up in them; none where it cannot."""
        if not self.verbs or not self.shared:
            return {}
        names = {port.fabric for port in self.ports if port.fabric}
        return {name: any(port.is_up for port in self.ports if port.fabric == name) for name in names}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RdmaDevice":
        """What another machine reported, or what is kept. Raises TypeError or ValueError for malformed data."""
        fields = dict(data)
        ports = tuple(RdmaPort(**port) for port in fields.pop("ports", ()))
        links = tuple((str(peer), str(link)) for peer, link in fields.pop("links", ()))
        return cls(**fields, ports=ports, links=links)


@dataclass(frozen=True, slots=True)
class Fabric:
    """What work that asks for RDMA finds on a machine. `name` "": nothing. `devices`: those whose link is up."""

    name: str = ""
    devices: tuple[RdmaDevice, ...] = ()

    @property
    def is_active(self) -> bool:
        return bool(self.devices)


def fabric_of(found: Iterable[RdmaDevice]) -> Fabric:
    """The fabric in which most devices are up, of equals the first by name: members of a gang need a common one."""
    known = tuple(found)
    up: dict[str, tuple[RdmaDevice, ...]] = {}
    for name in sorted({name for one in known for name in one.fabrics}):
        up[name] = tuple(one for one in known if one.fabrics.get(name))
    best = max(up, key=lambda name: len(up[name]), default="")
    return Fabric(best, up.get(best, ()))


def locked_memory_mib() -> int | None:
    """How much memory a program that this process starts may lock, in MiB; None for any amount.

    What RDMA transfers is locked. Whoever has CAP_SYS_RESOURCE, as root mostly has, may raise the limit.
    """
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    if limit == resource.RLIM_INFINITY or _may_raise_limits():
        return None
    return limit // (1024 * 1024)


def _may_raise_limits() -> bool:
    status = _word(Path("/proc/self/status"))
    held = next((line for line in status.splitlines() if line.startswith("CapEff:")), "CapEff: 0")
    return bool(int(held.split()[1], 16) >> CAP_SYS_RESOURCE & 1)


def devices(root: Path = Path("/")) -> tuple[RdmaDevice, ...]:
    """By name; none without a driver."""
    verbs = {_word(path / "ibdev"): path.name for path in root.glob("sys/class/infiniband_verbs/uverbs*")}
    folders = sorted(root.glob("sys/class/infiniband/*"))[:MOST_DEVICES]
    shared = _word(root / "sys/module/ib_core/parameters/netns_mode") != "N"  # kernels before 5.2 know no other mode
    return tuple(replace(_device(folder, verbs.get(folder.name, ""), root), shared=shared) for folder in folders)


def with_card_links(
    found: Iterable[RdmaDevice], cards: Iterable[Card], root: Path = Path("/")
) -> tuple[RdmaDevice, ...]:
    """The devices with how near each card is: what goes between them need not pass the processor below one switch."""
    places = {card.uuid: place for card in cards if (place := pci_place(root, card.pci))}
    return tuple(replace(one, links=_links(one, places, root)) for one in found)


def as_json(found: Iterable[RdmaDevice]) -> list[dict[str, Any]]:
    """For the node's row: what a machine says is cut to size, and links that make no sense are left out."""
    return [
        {
            "name": one.name[:LONGEST],
            "verbs": one.verbs[:LONGEST],
            "pci": one.pci[:20],
            "numa": one.numa,
            "ports": [
                {
                    "number": port.number,
                    "state": port.state[:20],
                    "layer": port.layer[:20],
                    "rate": port.rate[:LONGEST],
                    "subnet": port.subnet[:LONGEST],
                }
                for port in one.ports[:MOST_PORTS]
            ],
            "shared": bool(one.shared),
            "links": list(sensible_links(one.links).items()),
        }
        for one in list(found)[:MOST_DEVICES]
    ]


def _device(folder: Path, verbs: str, root: Path) -> RdmaDevice:
    pci = (folder / "device").resolve().name if (folder / "device").exists() else ""
    place = pci_place(root, pci)
    ports = sorted((path for path in folder.glob("ports/*") if path.name.isdigit()), key=lambda path: int(path.name))
    return RdmaDevice(
        name=folder.name,
        verbs=verbs,
        pci=pci if place else "",
        numa=place.numa if place else None,
        ports=tuple(map(_port, ports)),
    )


def _port(folder: Path) -> RdmaPort:
    state = _word(folder / "state").partition(":")[2].strip()  # "4: ACTIVE"
    layer = _word(folder / "link_layer")
    subnet = _word(folder / "gids/0")[:19] if layer == INFINIBAND else ""  # four groups of four digits
    return RdmaPort(int(folder.name), state, layer, _word(folder / "rate"), subnet)


def _links(one: RdmaDevice, places: Mapping[str, Any], root: Path) -> tuple[tuple[str, str], ...]:
    place = pci_place(root, one.pci)
    return tuple((uuid, str(link_between(place, card))) for uuid, card in places.items()) if place else ()


def _word(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
