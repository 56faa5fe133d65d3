"""The interface that leads from a gang's namespace to its other machines, made by `ip` and `bridge` of iproute2.

It is made inside the namespace, and sends from the machine's own: an interface that is in neither for a moment cannot
be left behind, and it goes with the namespace. Standard library only, for the shim.
"""

import json
import shutil
from pathlib import Path

from apps.workloads.drivers.local.commands import run
from apps.workloads.drivers.overlay import INTERFACE, PORT, PREFIX, Kind, Plan

SMALLEST_MTU = 1280
_PROBED = {
    Kind.VXLAN: ("type", "vxlan", "id", "1", "dstport", str(PORT)),
    Kind.WIREGUARD: ("type", "wireguard"),
}


def make(network: Path, plan: Plan) -> None:
    """`network`: the namespace's file. Raises OSError, then with nothing or a part of it in the namespace."""
    mtu = _mtu(plan.machine) - plan.overhead
    if mtu < SMALLEST_MTU:
        raise OSError(f"packets of {plan.machine} are too small to hold another network's")
    way = ("id", str(plan.vni), "local", plan.machine, "dstport", str(PORT), "nolearning")
    link = ("address", plan.mac, "mtu", str(mtu), "netns", str(network))
    run("ip", "link", "add", "name", INTERFACE, *link, "type", "vxlan", *way)
    inside = ("nsenter", f"--net={network}", "--")
    run(*inside, "ip", "-batch", "-", given="\n".join(_lines(plan)))
    entries = (f"fdb append {peer.mac} dev {INTERFACE} dst {peer.machine} self permanent" for peer in plan.peers)
    run(*inside, "bridge", "-batch", "-", given="\n".join(entries))


def _lines(plan: Plan) -> list[str]:
    """Addresses of the members here, and where the others are: known beforehand, so nobody is asked."""
    return [
        f"link set {INTERFACE} addrgenmode none arp off",
        *(f"address add {member}/{PREFIX} dev {INTERFACE}" for member in plan.members),
        f"link set {INTERFACE} up",
        *(
            f"neighbour replace {member} lladdr {peer.mac} dev {INTERFACE} nud permanent"
            for peer in plan.peers
            for member in peer.members
        ),
    ]


def _mtu(address: str) -> int:
    """Of the machine's interface that has the address. Raises OSError where none has."""
    for link in json.loads(run("ip", "-json", "address", "show", "to", address) or "[]"):
        if link.get("addr_info"):
            return int(link["mtu"])
    raise OSError(f"no interface of this machine has the address {address}")


def is_installed() -> bool:
    return all(shutil.which(name) for name in ("ip", "bridge", "nsenter", "unshare"))


def works(kind: Kind) -> bool:
    """Whether the kernel has such interfaces, found out by making one in a namespace that ends with the command."""
    try:
        run("unshare", "--net", "--", "ip", "link", "add", "name", INTERFACE, *_PROBED[kind])
    except OSError:
        return False
    return True
