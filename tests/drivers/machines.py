"""Machines to test with: network namespaces of this one, on a bridge of their own; each may have an agent."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from apps.workloads.drivers.local import processes, vxlan
from apps.workloads.drivers.local.records import MARKER
from apps.workloads.drivers.overlay import Kind
from apps.workloads.drivers.remote.client import Peer
from tests.drivers.agents import Agent

NETWORK = "198.18.{}"  # for benchmarks of networks (RFC 2544): nobody routes it


def obstacle() -> str:
    """Why this machine cannot stand for several."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not vxlan.is_installed():
        return "iproute2 is not installed"
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        return "network namespaces need CAP_NET_ADMIN and CAP_SYS_ADMIN"
    return "" if vxlan.works(Kind.VXLAN) else "the kernel has no VXLAN"


def ip(*words: str) -> str:
    return subprocess.run(["ip", *words], capture_output=True, text=True, check=True).stdout


@contextmanager
def machines(count: int) -> Iterator[list[tuple[str, str]]]:
    """(namespace, address) of each; this process reaches them as the platform would."""
    mark, third = uuid4().hex[:6], uuid4().int % 250 + 1
    base, bridge = NETWORK.format(third), f"b{mark}"
    made = [(f"plm{mark}-{index}", f"{base}.{index + 2}") for index in range(count)]
    try:
        ip("link", "add", bridge, "type", "bridge")
        ip("address", "add", f"{base}.1/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        for index, (name, address) in enumerate(made):
            ip("netns", "add", name)
            ip("link", "add", f"v{mark}{index}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", f"v{mark}{index}", "master", bridge, "up")
            ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "eth0", "up")
        yield made
    finally:
        for name, _address in made:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", bridge], capture_output=True, check=False)


class FarAgent(Agent):
    """An agent that lives in a machine's namespace."""

    def __init__(self, home: Path, data: Path, namespace: str, address: str) -> None:
        super().__init__(home, data, data, host=address)
        self.namespace, self.address = namespace, address
        self.before = ("ip", "netns", "exec", namespace)

    @property
    def peer(self) -> Peer:
        return Peer(self.node_id, f"http://{self.address}:{self.port}", self.secret)


def end(agent: FarAgent) -> None:
    """With whatever its work leaves running, and the networks of that."""
    agent.kill()
    runs = agent.home / "runs"
    for ref in [path.name for path in runs.iterdir()] if runs.is_dir() else []:
        processes.end_marked(MARKER, ref, 5)
    for network in (agent.home / "gangs").glob("*/net"):
        subprocess.run(["umount", str(network)], capture_output=True, check=False)
