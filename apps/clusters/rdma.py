"""RDMA devices of a machine, InfiniBand or RoCE, as the kernel shows them (its ABI document "sysfs-class-infiniband").

Read against trees that tests write: no machine with such a device has run this yet. They are shown to operators; work
cannot ask for them yet.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from apps.clusters.card_links import link_between, pci_place, sensible_links
from apps.clusters.cards import Card

MOST_DEVICES, MOST_PORTS, LONGEST = 64, 16, 60


@dataclass(frozen=True, slots=True)
class RdmaPort:
    """`state`: ACTIVE, DOWN, …; `layer`: InfiniBand or Ethernet; `rate`: as the kernel says, `400 Gb/sec (4X NDR)`."""

    number: int
    state: str
    layer: str
    rate: str


@dataclass(frozen=True, slots=True)
class RdmaDevice:
    """`verbs`: the name of its node in /dev/infiniband, "" without one. `links`: how near each card is, by uuid."""

    name: str
    verbs: str = ""
    pci: str = ""
    numa: int | None = None
    ports: tuple[RdmaPort, ...] = ()
    links: tuple[tuple[str, str], ...] = ()

    @property
    def is_active(self) -> bool:
        return any(port.state == "ACTIVE" for port in self.ports)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RdmaDevice":
        """What another machine reported, or what is kept. Raises TypeError or ValueError for malformed data."""
        fields = dict(data)
        ports = tuple(RdmaPort(**port) for port in fields.pop("ports", ()))
        links = tuple((str(peer), str(link)) for peer, link in fields.pop("links", ()))
        return cls(**fields, ports=ports, links=links)


def devices(root: Path = Path("/")) -> tuple[RdmaDevice, ...]:
    """By name; none without a driver."""
    verbs = {_word(path / "ibdev"): path.name for path in root.glob("sys/class/infiniband_verbs/uverbs*")}
    folders = sorted(root.glob("sys/class/infiniband/*"))[:MOST_DEVICES]
    return tuple(_device(folder, verbs.get(folder.name, ""), root) for folder in folders)


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
                {"number": port.number, "state": port.state[:20], "layer": port.layer[:20], "rate": port.rate[:LONGEST]}
                for port in one.ports[:MOST_PORTS]
            ],
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
    return RdmaPort(int(folder.name), state, _word(folder / "link_layer"), _word(folder / "rate"))


def _links(one: RdmaDevice, places: Mapping[str, Any], root: Path) -> tuple[tuple[str, str], ...]:
    place = pci_place(root, one.pci)
    return tuple((uuid, str(link_between(place, card))) for uuid, card in places.items()) if place else ()


def _word(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""
