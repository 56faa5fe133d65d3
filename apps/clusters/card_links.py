"""How the cards of a machine are connected, in the terms of `nvidia-smi topo -m`.

A driver may say it itself, as NVIDIA's does. Of all others, and where it does not, the place of each card in the tree
of PCI devices says it, as the kernel shows it in sysfs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations
from pathlib import Path

from apps.clusters.cards import Card


class Link(StrEnum):
    """From the nearest on. NVLink is `NV` and the number of links that are joined."""

    PIX = "PIX"  # at most one PCIe bridge between them, as in one switch
    PXB = "PXB"  # several PCIe bridges, but not the host bridge
    PHB = "PHB"  # the host bridge, which is mostly the CPU
    NODE = "NODE"  # host bridges of one NUMA node
    SYS = "SYS"  # NUMA nodes


_DISTANCES: Mapping[str, int] = {Link.PIX: 40, Link.PXB: 50, Link.PHB: 60, Link.NODE: 70, Link.SYS: 80}
_NVLINK = re.compile(r"NV([1-9][0-9]?)", re.ASCII)
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.ASCII)
MOST_LINKS = 36
MOST_PEERS = 64


def distance(link: str) -> int | None:
    """For the scheduler: smaller is nearer, more links nearer than fewer. None for what is no link."""
    joined = _NVLINK.fullmatch(link)
    return MOST_LINKS + 1 - min(int(joined[1]), MOST_LINKS) if joined else _DISTANCES.get(link)


def sensible_links(links: Iterable[Sequence[str]]) -> dict[str, str]:
    """By the other card's uuid; what makes no sense is left out."""
    pairs = [(str(peer)[:80], str(link)) for peer, link in links]
    return dict([(peer, link) for peer, link in pairs if distance(link) is not None][:MOST_PEERS])


@dataclass(frozen=True, slots=True)
class PciPlace:
    """`path`: from the host bridge down to the device, as sysfs nests them. `numa`: None where it is not known."""

    path: tuple[str, ...]
    numa: int | None


def pci_place(root: Path, address: str) -> PciPlace | None:
    """Of the device with this address (`0000:18:00.0`) below `root`; None where there is none."""
    folder = root / "sys/bus/pci/devices" / address
    if not _ADDRESS.fullmatch(address) or not folder.exists():
        return None
    path = folder.resolve().parts
    start = next((depth for depth, part in enumerate(path) if part.startswith("pci")), None)
    try:
        numa = int((folder / "numa_node").read_text())
    except (OSError, ValueError):
        numa = -1
    return None if start is None else PciPlace(path[start:], numa if numa >= 0 else None)


def link_between(one: PciPlace, other: PciPlace) -> Link:
    """By the deepest bridge above both."""
    pairs = enumerate(zip(one.path, other.path, strict=False))
    common = next((depth for depth, (here, there) in pairs if here != there), len(one.path))
    if common == 0:
        return Link.NODE if one.numa is not None and one.numa == other.numa else Link.SYS
    if common == 1:  # the host bridge alone
        return Link.PHB
    # A switch has one bridge towards the host and one towards each device.
    return Link.PIX if max(len(one.path), len(other.path)) - common <= 2 else Link.PXB


def with_links(cards: Iterable[Card], root: Path = Path("/")) -> tuple[Card, ...]:
    """The cards with their NUMA nodes, and links to others of their vendor where the driver has not named them."""
    found = tuple(cards)
    places = {card.uuid: place for card in found if (place := pci_place(root, card.pci))}
    links: dict[str, dict[str, str]] = {card.uuid: dict(card.links) for card in found}
    for one, other in combinations(found, 2):
        if one.vendor == other.vendor and one.uuid in places and other.uuid in places:
            link = link_between(places[one.uuid], places[other.uuid])
            links[one.uuid].setdefault(other.uuid, link)
            links[other.uuid].setdefault(one.uuid, link)
    return tuple(
        replace(
            card,
            numa=places[card.uuid].numa if card.uuid in places else card.numa,
            links=tuple(sorted(links[card.uuid].items())),
        )
        for card in found
    )
