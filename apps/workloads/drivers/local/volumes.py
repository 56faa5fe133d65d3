"""Where the volumes that mounts name lie on this machine. Standard library only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from apps.workloads.drivers.base import LaunchRefused, Mount, MountCopy
from apps.workloads.drivers.said import Code, Said


@dataclass(frozen=True, slots=True)
class HostMount:
    """`source`: absolute path on this machine, as is the listing of `copy`. The rest is as in `Mount`."""

    source: str
    target: str
    read_only: bool
    limit_mib: int | None = None
    copy: MountCopy | None = None


def resolve(mounts: Sequence[Mount], volumes: Mapping[str, Path]) -> tuple[HostMount, ...]:
    """Raises `LaunchRefused` for a volume that is not here. A volume's root may be a link: it is the operator's."""
    return tuple(_resolved(mount, volumes) for mount in mounts)


def _resolved(mount: Mount, volumes: Mapping[str, Path]) -> HostMount:
    root = volumes.get(mount.volume)
    if root is None:
        raise LaunchRefused("bad_mount", Said(Code.NO_SUCH_VOLUME, {"volume": mount.volume, "target": mount.target}))
    root = root.resolve()
    copy = None if mount.copy is None else replace(mount.copy, listing=str(root / mount.copy.listing))
    return HostMount(str(root / mount.subpath), mount.target, mount.read_only, mount.limit_mib, copy)
