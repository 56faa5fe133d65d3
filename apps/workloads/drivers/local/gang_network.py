"""The network that the members of a gang share on one machine: a namespace that holds nothing but its own loopback.

Every address of 127.0.0.0/8 is on a loopback, so each member has one for its name (`m0`, `m1` …) without any device,
and nobody outside reaches them. Where others of the gang are on further machines, the namespace also has the interface
that leads there (`local.vxlan`), and the names are its addresses. Joined by each member's shim, left by it or, where it
was killed, by whoever proves so; the last one takes the namespace away, and all interfaces in it. Standard library and
util-linux only.
"""

import fcntl
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import UUID

from apps.workloads.drivers import overlay
from apps.workloads.drivers.local import vxlan
from apps.workloads.drivers.local.commands import run
from apps.workloads.drivers.local.records import RunDirectory, decode_spec
from apps.workloads.drivers.request import Gang

HOSTS_FILE = "hosts"
LOOPBACK = "lo"
_INTERFACE_VARIABLES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "OMPI_MCA_btl_tcp_if_include",
                        "OMPI_MCA_oob_tcp_if_include", "PRTE_MCA_prte_if_include")  # fmt: skip
# `ip link set lo up` without iproute2, which a bare machine need not have: see netdevice(7).
_LOOPBACK_UP = """
import fcntl, socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    fcntl.ioctl(sock, 0x8914, struct.pack("16sH", b"lo", 0x1 | 0x40))
"""


def address(rank: int) -> str:
    """The member's own address, from 127.1.0.1 on."""
    return f"127.1.{(rank + 1) // 256}.{(rank + 1) % 256}"


def addresses(gang: Gang) -> list[str]:
    """Of its members, by rank."""
    if gang.overlay is None:
        return [address(rank) for rank in range(gang.size)]
    return [overlay.member_address(gang.overlay.number, rank) for rank in range(gang.size)]


def names(gang: Gang) -> str:
    """The members' lines of /etc/hosts."""
    return "".join(f"{each} m{rank}\n" for rank, each in enumerate(addresses(gang)))


def hosts(members: Sequence[str], slots: int) -> str:
    """What $PLSTACK_HOSTS names: a line for each rank with name, address and slots, which are cards, or 1 without."""
    return "".join(f"m{rank} {each} {slots}\n" for rank, each in enumerate(members))


def interface_variables(gang: Gang) -> dict[str, str]:
    """By which libraries find the members' network, since they pass over a loopback unless it is named."""
    return on_interface(LOOPBACK if gang.overlay is None else overlay.INTERFACE)


def on_interface(name: str) -> dict[str, str]:
    """The same, of the interface of this name."""
    return dict.fromkeys(_INTERFACE_VARIABLES, name)


def join(home: Path, gang: Gang, ref: str) -> Path:
    """The namespace's file, for `nsenter --net=`; made by the first member. Raises OSError where none can be made."""
    folder = _folder(home, gang.group)
    with _locked(home):
        folder.mkdir(mode=0o700, exist_ok=True)
        network = folder / "net"
        (folder / ref).touch(mode=0o600)  # first: whoever dies in between has joined, and is known to leave
        if not os.path.ismount(network):  # the first, or the machine was restarted in between
            network.touch(mode=0o600)
            _make(network)
            if gang.overlay is not None:
                _make_way(network, gang, gang.overlay)
    return network


def leave(home: Path, group: UUID, ref: str) -> None:
    """May be repeated, by anyone who knows that nothing of the member runs. Raises OSError."""
    folder = _folder(home, group)
    if not folder.is_dir():
        return
    with _locked(home):
        (folder / ref).unlink(missing_ok=True)
        _remove_empty(folder)


def sweep(home: Path, is_over: Callable[[str], bool]) -> None:
    """Leave for members of which nothing runs any more, whoever should have done so. Raises OSError."""
    folder = home / "gangs"
    for group in [entry for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []:
        members = [entry.name for entry in group.iterdir() if entry.name != "net"]
        for ref in filter(is_over, members):
            leave(home, UUID(group.name), ref)
        if not members:
            with _locked(home):
                _remove_empty(group)


def _remove_empty(folder: Path) -> None:
    """Take away the network that no member has joined; its interfaces go with the namespace."""
    network = folder / "net"
    if not folder.is_dir() or any(entry != network for entry in folder.iterdir()):
        return
    if os.path.ismount(network):
        run("umount", str(network))
    network.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        folder.rmdir()


def leave_for(directory: RunDirectory, home: Path) -> None:
    """What the shim of the run, which was killed, did not do any more; else the machine's restart does it."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        gang = decode_spec(directory.spec.read_bytes()).request.gang
        if gang is not None:
            leave(home, gang.group, directory.path.name)


def _make(network: Path) -> None:
    run("unshare", f"--net={network}", sys.executable, "-I", "-S", "-c", _LOOPBACK_UP)


def _make_way(network: Path, gang: Gang, way: overlay.Overlay) -> None:
    """All of it or no namespace at all, so that the next to join finds none that leads nowhere."""
    try:
        vxlan.make(network, overlay.plan(way, gang.nodes, gang.nodes[gang.rank]))
    except OSError:
        run("umount", str(network))
        raise


def _folder(home: Path, group: UUID) -> Path:
    return home / "gangs" / str(group)


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    folder = home / "gangs"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(folder / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
