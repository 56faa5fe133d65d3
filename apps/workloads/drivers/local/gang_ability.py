"""What this machine can do for gangs that are on several machines, found out by trying."""

import os
import socket
from functools import cache
from urllib.parse import urlsplit

from apps.workloads.drivers.base import Isolation, IsolationLevel
from apps.workloads.drivers.local import vxlan
from apps.workloads.drivers.overlay import Ability, Kind, usable_address
from apps.workloads.drivers.said import Code, Said


def find(isolation: Isolation, address: str) -> Ability:
    """`address`: this machine's on the network between the machines; "" where it is not known."""
    if isolation.level is not IsolationLevel.L1 or os.geteuid() != 0:
        return Ability(said=(Said(Code.JOINING_NEEDS_ROOT),))
    if not vxlan.is_installed():
        return Ability(said=(Said(Code.IPROUTE_MISSING),))
    kinds = _kinds()
    said = [] if Kind.VXLAN in kinds else [Said(Code.VXLAN_MISSING)]
    if Kind.WIREGUARD not in kinds:
        said.append(Said(Code.WIREGUARD_MISSING))
    if not address:
        said.append(Said(Code.OWN_ADDRESS_UNKNOWN))
    return Ability(kinds, address, tuple(said))


@cache
def _kinds() -> frozenset[Kind]:
    """Asked once: a kernel gets no new interfaces while the agent runs, unless an operator sees to it."""
    return frozenset(kind for kind in Kind if vxlan.works(kind))


def address_towards(url: str) -> str:
    """This machine's address from which it reaches the URL's host; "" for none that other machines can reach."""
    parts = urlsplit(url)
    try:
        family, kind, protocol, _name, target = socket.getaddrinfo(
            parts.hostname, parts.port or 80, type=socket.SOCK_DGRAM
        )[0]
        with socket.socket(family, kind, protocol) as way:
            way.connect(target)  # asks the routing table, sends nothing
            return str(usable_address(way.getsockname()[0]))
    except (OSError, ValueError):
        return ""
