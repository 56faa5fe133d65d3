"""Where the volumes that mounts name lie on this machine. Standard library only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from apps.workloads.drivers.base import LaunchRefused, Mount
from apps.workloads.drivers.said import Code, Said


@dataclass(frozen=True, slots=True)
class HostMount:
    """`source`: absolute path on this machine. The rest is as in `Mount`."""

    source: str
    target: str
    read_only: bool
    limit_mib: int | None = None


def resolve(mounts: Sequence[Mount], volumes: Mapping[str, Path]) -> tuple[HostMount, ...]:
    """Raises `LaunchRefused` for a volume that is not here. A volume's root may be a link: it is the operator's."""
    return tuple(_resolved(mount, volumes) for mount in mounts)


def _resolved(mount: Mount, volumes: Mapping[str, Path]) -> HostMount:
    root = volumes.get(mount.volume)
    if root is None:
        raise LaunchRefused("bad_mount", Said(Code.NO_SUCH_VOLUME, {"volume": mount.volume, "target": mount.target}))
    return HostMount(str(root.resolve() / mount.subpath), mount.target, mount.read_only, mount.limit_mib)
