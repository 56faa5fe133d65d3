"""RDMA devices for an attempt: which it is given, as device nodes and variables, and the memory that it may lock.

NCCL_IB_HCA names the adapters for NCCL ("=" before exact names: its manual, "Environment Variables"); UCX_NET_DEVICES
does for UCX and the Open MPI that stands on it, by port. Libraries open /dev/infiniband/uverbs<n> of each adapter, and
rdma_cm to find peers by their address.
"""

import resource
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.clusters import rdma
from apps.workloads.drivers.base import DriverError, LaunchRefused
from apps.workloads.drivers.errors import LINK_DOWN
from apps.workloads.drivers.said import Code, Said

CONNECTIONS = "rdma_cm"


@dataclass(frozen=True, slots=True)
class RdmaGrant:
    """`ports`: adapters and their ports that are up, `mlx5_0:1`. `nodes`: pairs, the machine's and the one inside."""

    ports: tuple[str, ...] = ()
    nodes: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ports)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RdmaGrant":
        """What `dataclasses.asdict` made of one."""
        return cls(tuple(map(str, data["ports"])), tuple((str(here), str(inside)) for here, inside in data["nodes"]))

    @property
    def variables(self) -> dict[str, str]:
        if not self.ports:
            return {}
        ports = ",".join(self.ports)
        return {"NCCL_IB_HCA": f"={ports}", "UCX_NET_DEVICES": ports}


def granted(root: Path = Path("/")) -> RdmaGrant:
    """The devices of the machine whose sysfs and /dev are below `root`. Raises LaunchRefused, DriverError."""
    fabric = rdma.fabric_of(rdma.devices(root))
    if not fabric.name:
        raise LaunchRefused("no_rdma", Said(Code.NO_RDMA))
    if not fabric.is_active:
        raise LaunchRefused(LINK_DOWN, Said(Code.RDMA_DOWN))
    names = [f"dev/infiniband/{device.verbs}" for device in fabric.devices]
    missing = next((name for name in names if not (root / name).is_char_device()), None)
    if missing is not None:
        raise DriverError(Said(Code.RDMA_NODE_MISSING, {"path": f"/{missing}"}))
    if (root / f"dev/infiniband/{CONNECTIONS}").is_char_device():
        names.append(f"dev/infiniband/{CONNECTIONS}")
    ports = [
        f"{device.name}:{port.number}"
        for device in fabric.devices
        for port in device.ports
        if port.is_up and port.fabric == fabric.name
    ]
    return RdmaGrant(tuple(ports), tuple((str(root / name), f"/{name}") for name in names))


def lift_memory_lock() -> None:
    """What RDMA transfers is locked in memory. As much as the kernel lets this process allow; the cgroup limits it."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    for limit in (resource.RLIM_INFINITY, hard):
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
            return
