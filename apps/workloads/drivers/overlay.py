"""The network of a gang that is on several machines: who has which address in it, and how each machine sends there.

Pure. Every attempt has a number of its own while it lives, and with it a VXLAN identifier and a subnet. Hardware
addresses and ways are computed, not learnt: nothing is flooded, and nobody answers for another's address. RFC 7348.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from ipaddress import IPv4Network, IPv6Address, ip_address, ip_network
from typing import Any

from apps.workloads.drivers.said import Said

POOL = ip_network("10.0.0.0/8")
"""Members' addresses. Inside their own namespace they clash with nothing, whatever the machines' networks use."""
PREFIX = 24
LAST_NUMBER = 2 ** (PREFIX - POOL.prefixlen) - 1
VNI_BASE = 0x504C00
# Not the ports of 4789 (IANA) or 8472 (Linux), at which container networks of the same machine may listen.
PORT = 8475
INTERFACE = "gang0"


class Kind(StrEnum):
    VXLAN = "vxlan"
    WIREGUARD = "wireguard"


@dataclass(frozen=True, slots=True)
class Ability:
    """What a machine can do for gangs over machines, as it found out itself.

    `address`: its own on the network between the machines; "" where it knows none. `said`: why it can do less than all.
    """

    kinds: frozenset[Kind] = frozenset()
    address: str = ""
    said: tuple[Said, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "kinds": sorted(self.kinds),
            "address": self.address,
            "said": [said.as_json() for said in self.said],
        }

    @classmethod
    def from_json(cls, data: object) -> "Ability":
        """What `as_json` wrote, here or on a machine of another version; no ability for anything else."""
        try:
            return cls._read(data) if isinstance(data, Mapping) else cls()
        except (KeyError, TypeError, ValueError):
            return cls()

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> "Ability":
        known = {kind.value for kind in Kind}
        address = data["address"]
        if address:
            address = str(usable_address(address))
        kinds = frozenset(Kind(kind) for kind in data["kinds"] if kind in known)
        return cls(kinds, address, tuple(Said.from_json(said) for said in data["said"]))

    @property
    def joins(self) -> bool:
        """Whether it can be one of several machines of a gang, where the network between them is trusted."""
        return Kind.VXLAN in self.kinds and bool(self.address)


def usable_address(text: str) -> Any:
    """One to which other machines can send. Raises ValueError."""
    found = ip_address(text)
    if found.is_unspecified or found.is_multicast or found.is_loopback or (found.version == 6 and "%" in text):
        raise ValueError(f"{text} is no address of a machine")
    return found


@dataclass(frozen=True, slots=True)
class Overlay:
    """`number`: of 1 to `LAST_NUMBER`, no other live attempt's. `addresses`: of the machine of each rank."""

    number: int
    addresses: tuple[str, ...]
    kind: Kind = Kind.VXLAN

    def problem(self, nodes: tuple[str, ...]) -> str:
        """What is wrong with it for a gang on these nodes, by rank; "" for nothing."""
        if not 1 <= self.number <= LAST_NUMBER:
            return f"no network has the number {self.number}"
        if len(self.addresses) != len(nodes) or len(nodes) > 2 ** (32 - PREFIX) - 2:
            return "the addresses do not match the members"
        try:
            found = {(node, usable_address(text)) for node, text in zip(nodes, self.addresses, strict=True)}
        except ValueError as error:
            return str(error)
        machines = {address for _node, address in found}
        if not len(found) == len(machines) == len(set(nodes)):
            return "each machine has one address, and none has another's"
        return "" if len({address.version for address in machines}) == 1 else "IPv4 and IPv6 are mixed"


def free_number(taken: Collection[int], last: int) -> int | None:
    """The next after `last` that nobody has; None when all are taken.

    Going round keeps a number unused for long after its attempt: a machine that was lost may still have its interface.
    """
    used = set(taken)
    ring = (*range(last + 1, LAST_NUMBER + 1), *range(1, min(last, LAST_NUMBER) + 1))
    return next((number for number in ring if number not in used), None)


def subnet(number: int) -> IPv4Network:
    return IPv4Network((int(POOL.network_address) + (number << (32 - PREFIX)), PREFIX))


def vni(number: int) -> int:
    return VNI_BASE + number


def member_address(number: int, rank: int) -> str:
    return str(subnet(number).network_address + rank + 1)


@dataclass(frozen=True, slots=True)
class Peer:
    """Another machine of the gang: where it is, its interface's hardware address, and its members' addresses."""

    machine: str
    mac: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What one machine makes. `members`: the addresses of the members that are on it."""

    vni: int
    machine: str
    mac: str
    members: tuple[str, ...]
    peers: tuple[Peer, ...] = field(default=())

    @cached_property
    def overhead(self) -> int:
        """Bytes of each packet that the way takes: Ethernet, IP, UDP and VXLAN headers."""
        return 70 if isinstance(ip_address(self.machine), IPv6Address) else 50


def plan(overlay: Overlay, nodes: tuple[str, ...], node: str) -> Plan:
    """For `node`, one of `nodes`, which names the node of each rank. The overlay must have no `problem`."""
    ends = [_peer(overlay, nodes, each) for each in dict.fromkeys(nodes)]
    own = ends[list(dict.fromkeys(nodes)).index(node)]
    others = tuple(end for end in ends if end is not own)
    return Plan(vni(overlay.number), own.machine, own.mac, own.members, others)


def _peer(overlay: Overlay, nodes: tuple[str, ...], node: str) -> Peer:
    ranks = [rank for rank, each in enumerate(nodes) if each == node]
    # Locally administered; the number and the first rank make it unlike any other of the machine.
    mac = f"02:50:4c:{overlay.number >> 8:02x}:{overlay.number & 0xFF:02x}:{ranks[0]:02x}"
    return Peer(overlay.addresses[ranks[0]], mac, tuple(member_address(overlay.number, rank) for rank in ranks))
