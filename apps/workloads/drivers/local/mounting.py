"""The mount phase: everything that the workload will find is checked, made, and given to its user."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from apps.clusters.limiters import HAMI_LOCK, MPS_PIPES
from apps.workloads.drivers.base import IsolationLevel
from apps.workloads.drivers.local import accounts, devices, gang_network, sandbox, seccomp
from apps.workloads.drivers.local.environment import (
    BESIDE,
    SANDBOX_BESIDE,
    SANDBOX_CERTIFICATES,
    SANDBOX_EGRESS,
    SANDBOX_NOTICE,
    SANDBOX_TRACKING,
    goes_out,
    has_secret_files,
    has_way_out,
    is_inside,
    needs_scratch,
    only_tracks,
    tools_inside,
)
from apps.workloads.drivers.local.oci import roots
from apps.workloads.drivers.local.oci.prepare import Unpacked
from apps.workloads.drivers.local.oci.roots import MountFailed as MountFailed
from apps.workloads.drivers.local.preemption_notice import make_checkpoint_folder
from apps.workloads.drivers.local.records import RunDirectory, RunSpec
from apps.workloads.drivers.local.volumes import HostMount
from apps.workloads.drivers.request import TRACKING_ADDRESS
from apps.workloads.drivers.said import Code, Said


def prepare(spec: RunSpec, run: RunDirectory) -> None:
    """Checks the sources and makes the run's own folders. Raises `MountFailed`."""
    for mount in spec.mounts:
        check_mount(mount)
    own = [run.temporary, run.ports] + ([run.scratch] if needs_scratch(spec.request) else [])
    if devices.uses_hami(spec.request.devices) and spec.level is IsolationLevel.L1:
        own.append(run.temporary / HAMI_LOCK.name)  # the sandbox's /tmp
    try:
        for directory in [*own, run.notice]:  # the last stays the platform's
            directory.mkdir(mode=0o755, exist_ok=True)
        make_checkpoint_folder(spec)
        names = _name_members(spec, run)
        if has_way_out(spec):
            egress_folder(Path(spec.home)).mkdir(mode=0o755, parents=True, exist_ok=True)
        if only_tracks(spec):
            tracking_folder(Path(spec.home)).mkdir(mode=0o755, parents=True, exist_ok=True)
        if spec.level is IsolationLevel.L1:
            # Its first process, which may be another user, makes sockets there for what the workload serves.
            run.ports.chmod(0o777)
            uid = spec.uid if spec.uid is not None else os.getuid()
            sandbox.write_etc(run.etc, uid, names, names_user=not spec.request.builds)
        else:
            _stand_in_for_mounts(spec, run)
        if spec.uid is not None:
            _give_all(spec, own, spec.uid)
    except OSError as error:
        raise MountFailed(Said(Code.FOLDERS_NOT_PREPARED, {"error": str(error.strerror)})) from error
    except RecursionError as error:  # of `os.fwalk`, one call for each level
        raise MountFailed(Said(Code.MOUNT_TOO_DEEP)) from error


def _name_members(spec: RunSpec, run: RunDirectory) -> str:
    """Leaves the list of the gang's members, and returns their lines of /etc/hosts. Raises OSError."""
    gang = spec.request.gang
    if gang is None:
        return ""
    slots = max(1, len(spec.request.devices))
    (run.notice / gang_network.HOSTS_FILE).write_text(gang_network.hosts(gang_network.addresses(gang), slots))
    return gang_network.names(gang)


@dataclass(frozen=True, slots=True)
class Launch:
    """The command line of the workload's first process, which takes two descriptors as further arguments.

    `inherited`: further descriptors that it needs; the caller closes them.
    """

    argv: list[str]
    inherited: tuple[int, ...] = ()


def launch_command(spec: RunSpec, run: RunDirectory, base: Path | Unpacked, tools: Mapping[str, Path]) -> Launch:
    """`base`: its runtime, or the container image that it runs in instead of the machine's own system.

    Raises MountFailed.
    """
    if spec.level is IsolationLevel.L0:
        return Launch(sandbox.init_command(str(sandbox.PROJECT)))
    seccomp_filter = seccomp.open_filter()
    view = sandbox.View(
        mounts=[*_mounts(spec, run), *_tools(base, tools)],
        read_only=[base, *tools.values()] if isinstance(base, Path) else (),
        devices=_device_paths(spec),
        rdma=spec.rdma.nodes,
        etc=run.etc,
        network=spec.request.network,
        shared_memory_mib=spec.request.memory_mib,
        secrets=has_secret_files(spec.request),
        gang_network=_gang_network(spec),
        builds=spec.request.builds,
    )
    if isinstance(base, Path):
        argv = sandbox.arguments(view, seccomp_filter) + sandbox.init_command()
    else:
        argv = roots.command(spec, run, view, base, seccomp_filter)
    return Launch(argv, () if seccomp_filter is None else (seccomp_filter,))


def _gang_network(spec: RunSpec) -> Path | None:
    """What the members share, unless they have the machine's own network. Raises MountFailed."""
    gang = spec.request.gang
    if gang is None or spec.request.network:
        return None
    try:
        return gang_network.join(Path(spec.home), gang, str(spec.request.attempt_id))
    except OSError as error:
        raise MountFailed(Said(Code.NO_GANG_NETWORK, {"error": str(error)})) from error


def _mounts(spec: RunSpec, run: RunDirectory) -> list[HostMount]:
    request = spec.request
    mounts = sandbox.private_mounts(run.temporary, run.ports)
    mounts.append(HostMount(str(run.notice), SANDBOX_NOTICE, read_only=True))
    if has_way_out(spec):
        # The folder, not the socket in it, which is made anew with each start of the proxy.
        mounts.append(HostMount(str(egress_folder(Path(spec.home))), SANDBOX_EGRESS, read_only=True))
    if only_tracks(spec):
        mounts.append(HostMount(str(tracking_folder(Path(spec.home))), SANDBOX_TRACKING, read_only=True))
    if TRACKING_ADDRESS in request.env:
        mounts.append(HostMount(str(BESIDE), SANDBOX_BESIDE, read_only=True))
    if spec.certificates and goes_out(request):
        mounts.append(HostMount(spec.certificates, SANDBOX_CERTIFICATES, read_only=True))
    if needs_scratch(request):
        mounts.append(HostMount(str(run.scratch), request.workdir, read_only=False))
    return [*mounts, *spec.mounts]


def _tools(base: Path | Unpacked, tools: Mapping[str, Path]) -> list[HostMount]:
    """In a container image; elsewhere runtimes stand in their own places."""
    if isinstance(base, Path):
        return []
    inside = tools_inside(base.config, tools)
    return [HostMount(str(path), inside[name], read_only=True) for name, path in tools.items()]


def egress_folder(home: Path) -> Path:
    """Where the platform's proxy listens, with nothing else in it: workloads see this folder."""
    return home / "run" / "egress"


def tracking_folder(home: Path) -> Path:
    """The same for what leads to the address of tracking alone, since a sandbox that sees the other reaches more."""
    return home / "run" / "tracking"


def _device_paths(spec: RunSpec) -> list[Path]:
    paths = devices.nodes(spec.request.devices)
    if devices.uses_mps(spec.request.devices) and MPS_PIPES.is_dir():
        paths.append(MPS_PIPES)
    return paths


def check_mount(mount: HostMount) -> None:
    """No step below a volume's root may be a link: a tenant could have put it there to reach another's files."""
    if not os.path.exists(mount.source):
        raise MountFailed(Said(Code.MOUNT_MISSING, {"target": mount.target}))
    if os.path.realpath(mount.source) != mount.source:
        raise MountFailed(Said(Code.MOUNT_THROUGH_LINK, {"target": mount.target}))


def _stand_in_for_mounts(spec: RunSpec, run: RunDirectory) -> None:
    if needs_scratch(spec.request):
        _link_mounts(spec, run.scratch)
    if has_secret_files(spec.request):
        run.secret_files.mkdir(mode=0o700)


def _link_mounts(spec: RunSpec, scratch: Path) -> None:
    """Without a mount namespace, links stand in for the mounts below the working directory."""
    for mount in spec.mounts:
        if is_inside(mount.target, spec.request.workdir):
            link = scratch / os.path.relpath(mount.target, spec.request.workdir)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(mount.source)


def _give_all(spec: RunSpec, own: list[Path], uid: int) -> None:
    for directory in own:
        accounts.give(directory, uid)
    for mount in spec.mounts:
        if not mount.read_only:
            accounts.give(Path(mount.source), uid)
