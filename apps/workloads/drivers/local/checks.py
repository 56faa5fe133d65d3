"""What a request must fulfil before anything is made for it."""

import os
import re

from apps.workloads.drivers.base import LaunchRefused, LaunchRequest, Mount, RuntimeImage
from apps.workloads.drivers.local.sandbox import is_reserved
from apps.workloads.drivers.said import Code, Said

MIN_MEMORY_MIB = 16
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check(request: LaunchRequest) -> None:
    """Raises `LaunchRefused` for a request that can never start."""
    if not request.argv or not request.argv[0]:
        raise LaunchRefused("no_command", Said(Code.NO_COMMAND))
    if not isinstance(request.image, RuntimeImage):
        raise LaunchRefused("image_unsupported", Said(Code.NO_REFERENCES, {"image": request.image.name}))
    if request.cpu_milli < 1 or request.memory_mib < MIN_MEMORY_MIB:
        raise LaunchRefused("bad_resources", Said(Code.TOO_LITTLE_MEMORY, {"least_mib": MIN_MEMORY_MIB}))
    if min(request.disk.scratch_mib, request.disk.files, request.disk.log_mib) < 1:
        raise LaunchRefused("bad_resources", Said(Code.NO_DISK))
    _check_text([*request.argv, *request.env.values(), request.workdir])
    for name in request.env:
        if not _NAME.fullmatch(name):
            raise LaunchRefused("bad_variable", Said(Code.BAD_VARIABLE, {"name": name}))
    if not _is_plain(request.workdir) or is_reserved(request.workdir):
        raise LaunchRefused("bad_workdir", Said(Code.BAD_WORKDIR, {"path": request.workdir}))
    for mount in request.mounts:
        _check_mount(mount)
    if len({mount.target for mount in request.mounts}) < len(request.mounts):
        raise LaunchRefused("bad_mount", Said(Code.SAME_TARGET))


def _check_text(texts: list[str]) -> None:
    if any("\0" in text for text in texts):
        raise LaunchRefused("bad_text", Said(Code.ZERO_BYTE))


def _check_mount(mount: Mount) -> None:
    _check_text([mount.volume, mount.subpath, mount.target])
    if not _is_plain(mount.target) or is_reserved(mount.target):
        raise LaunchRefused("bad_mount", Said(Code.BAD_TARGET, {"target": mount.target}))
    if not _is_plain(f"/{mount.subpath}") or not mount.subpath:
        raise LaunchRefused("bad_mount", Said(Code.BAD_SUBPATH, {"target": mount.target}))


def _is_plain(path: str) -> bool:
    """Absolute, and with nothing in it that changes where it leads."""
    return path.startswith("/") and not path.startswith("//") and os.path.normpath(path) == path
