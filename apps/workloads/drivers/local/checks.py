"""What a request must fulfil before anything is made for it."""

import os
import re

from apps.workloads.drivers.base import (
    PULL_CREDENTIAL,
    SECRET_WITHHELD,
    LaunchRefused,
    LaunchRequest,
    Mount,
    RuntimeImage,
    RuntimeKind,
)
from apps.workloads.drivers.local.sandbox import is_reserved
from apps.workloads.drivers.said import Code, Said

MIN_MEMORY_MIB = 16
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
MAX_SECRET = 64 * 1024  # a variable has 128 KiB at most


def check(request: LaunchRequest, *, joins_machines: bool = False) -> None:
    """Raises `LaunchRefused` for a request that can never start.

    `joins_machines`: there is a network between machines that the driver does not have to make.
    """
    is_image = not isinstance(request.image, RuntimeImage)
    _check_program(request)
    _check_stages(request, is_image)
    if request.cpu_milli < 1 or request.memory_mib < MIN_MEMORY_MIB:
        raise LaunchRefused("bad_resources", Said(Code.TOO_LITTLE_MEMORY, {"least_mib": MIN_MEMORY_MIB}))
    if min(request.disk.scratch_mib, request.disk.files, request.disk.log_mib) < 1:
        raise LaunchRefused("bad_resources", Said(Code.NO_DISK))
    _check_secrets(request)
    _check_text([*request.argv, *request.env.values(), request.workdir])
    for name in request.env:
        if not _NAME.fullmatch(name):
            raise LaunchRefused("bad_variable", Said(Code.BAD_VARIABLE, {"name": name}))
    is_own = is_image and not request.workdir
    if not is_own and (not _is_plain(request.workdir) or is_reserved(request.workdir)):
        raise LaunchRefused("bad_workdir", Said(Code.BAD_WORKDIR, {"path": request.workdir}))
    if not joins_machines:
        _check_gang(request)
    for mount in request.mounts:
        _check_mount(mount)
    if len({mount.target for mount in request.mounts}) < len(request.mounts):
        raise LaunchRefused("bad_mount", Said(Code.SAME_TARGET))
    _check_copies(request)


def _check_program(request: LaunchRequest) -> None:
    is_image = not isinstance(request.image, RuntimeImage)
    if (not request.argv and not is_image) or (request.argv and not request.argv[0]):
        raise LaunchRefused("no_command", Said(Code.NO_COMMAND))
    if is_image:
        _check_tools_beside(request)


def _check_tools_beside(request: LaunchRequest) -> None:
    """Node's programs start themselves anew, and so on the image's C library, which may be another or none."""
    for tool in request.tools:
        if tool.kind is RuntimeKind.NODE:
            raise LaunchRefused("image_unsupported", Said(Code.NO_NODE_IN_IMAGE, {"name": tool.name}))


def _check_stages(request: LaunchRequest, is_image: bool) -> None:
    """They are for container images, and write to the request's own mounts alone."""
    targets = {mount.target for mount in request.mounts}
    for stage in request.stages:
        if not is_image or not stage.argv or not stage.argv[0] or request.gang is not None:
            raise LaunchRefused("bad_stage", Said(Code.NO_COMMAND))
        _check_text([*stage.argv])
        if not targets.issuperset(stage.writes):
            raise LaunchRefused("bad_mount", Said(Code.BAD_TARGET, {"target": min({*stage.writes} - targets)}))


def _check_copies(request: LaunchRequest) -> None:
    """Right below a mount: a folder between could have been swapped for a link by an earlier attempt."""
    writable = {mount.target for mount in request.mounts if not mount.read_only}
    for copy in request.copies:
        _check_mount(copy)
        if os.path.dirname(copy.target) not in writable:
            raise LaunchRefused("bad_mount", Said(Code.BAD_TARGET, {"target": copy.target}))


def _check_secrets(request: LaunchRequest) -> None:
    """Each under one name of its own, in a variable that nothing else sets or in a file."""
    taken = set(request.env)
    for secret in request.secrets:
        if secret.name.startswith(PULL_CREDENTIAL) and not (secret.variable or secret.file):
            continue
        place = secret.variable or f"/{secret.file}"
        pattern = _NAME if secret.variable else _FILE
        plain = pattern.fullmatch(secret.variable or secret.file) and not (secret.variable and secret.file)
        if not plain or place in taken or "\0" in (secret.value or "") or len(secret.value or "") > MAX_SECRET:
            raise LaunchRefused("bad_secret", Said(Code.BAD_PLACE, {"name": secret.name}))
        taken.add(place)


def secret_values(request: LaunchRequest) -> list[str]:
    """Of its secrets, in their order. Raises `LaunchRefused` where one is withheld."""
    for secret in request.secrets:
        if secret.value is None:
            raise LaunchRefused(SECRET_WITHHELD, Said(Code.WITHHELD, {"name": secret.name}))
    return [secret.value or "" for secret in request.secrets]


def _check_gang(request: LaunchRequest) -> None:
    gang = request.gang
    if gang is None or len(set(gang.nodes)) == 1:
        return
    if gang.overlay is None or request.network:
        raise LaunchRefused("gang_over_machines", Said(Code.GANG_OVER_MACHINES))
    if problem := gang.overlay.problem(gang.nodes):
        raise LaunchRefused("bad_gang_network", Said(Code.NO_GANG_NETWORK, {"error": problem}))


def _check_text(texts: list[str]) -> None:
    if any("\0" in text for text in texts):
        raise LaunchRefused("bad_text", Said(Code.ZERO_BYTE))


def _check_mount(mount: Mount) -> None:
    _check_text([mount.volume, mount.subpath, mount.target])
    if not _is_plain(mount.target) or is_reserved(mount.target):
        raise LaunchRefused("bad_mount", Said(Code.BAD_TARGET, {"target": mount.target}))
    if not _is_plain(f"/{mount.subpath}") or not mount.subpath:
        raise LaunchRefused("bad_mount", Said(Code.BAD_SUBPATH, {"target": mount.target}))
    copy = mount.copy
    if copy is None:
        return
    # The digest becomes the name of a folder.
    if not (mount.read_only and _is_plain(f"/{copy.listing}") and _DIGEST.fullmatch(copy.digest)):
        raise LaunchRefused("bad_mount", Said(Code.BAD_SUBPATH, {"target": mount.target}))


def _is_plain(path: str) -> bool:
    """Absolute, and with nothing in it that changes where it leads."""
    return path.startswith("/") and not path.startswith("//") and os.path.normpath(path) == path
