"""What the workload's process is given: variables, arguments, working directory, the same on both levels.

A request names mount targets. On L1 they exist; on L0 there is no mount namespace, so each is replaced by its source.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from apps.workloads.drivers import packages
from apps.workloads.drivers.base import IsolationLevel, LaunchRequest
from apps.workloads.drivers.local import devices
from apps.workloads.drivers.local.records import MARKER, RunDirectory, RunSpec

SANDBOX_TMP = "/tmp"  # noqa: S108 - private to the sandbox
SANDBOX_PORTS = "/run/plstack/ports"
SANDBOX_EGRESS = "/run/plstack/egress"
SANDBOX_NOTICE = "/run/plstack/notice"
NOTICE_FILE = "notice.json"
NOTICE, CHECKPOINTS = "PLSTACK_NOTICE", "PLSTACK_CHECKPOINTS"
EGRESS_SOCKET = "egress.sock"
EGRESS_PORT = 3128
_SHIM_VARIABLES = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


@dataclass(frozen=True, slots=True)
class Command:
    """The workload's process, ready to execute, and what its first process relays for it.

    `folder`: where the sockets of `ports` appear. `way_out`: loopback port and the proxy's Unix socket, or None.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    workdir: str
    folder: str
    ports: tuple[int, ...] = ()
    way_out: tuple[int, str] | None = None


def command(spec: RunSpec, run: RunDirectory, runtime: Path, tools: Mapping[str, Path] | None = None) -> Command:
    """The request's command as the workload's process sees it at the level of `spec`; `tools`: path by name."""
    request = spec.request
    isolated = spec.level is IsolationLevel.L1
    place = str if isolated else rewriter(_host_paths(spec, run))
    defaults = _defaults(request, runtime, SANDBOX_TMP if isolated else str(run.temporary))
    own = {name: place(value) for name, value in request.env.items()}
    folder = SANDBOX_PORTS if isolated else str(run.ports)
    notice = SANDBOX_NOTICE if isolated else str(run.notice)
    beside = {tool_variable(name): str(path) for name, path in (tools or {}).items()}
    leads_out = has_way_out(spec)
    return Command(
        argv=tuple(place(argument) for argument in request.argv),
        env=defaults
        | (_proxy() if leads_out else {})
        | own
        | _enforced(request, folder, place, defaults["TMPDIR"])
        | beside
        | {NOTICE: f"{notice}/{NOTICE_FILE}"},
        workdir=place(request.workdir),
        folder=folder,
        ports=request.ports,
        way_out=(EGRESS_PORT, f"{SANDBOX_EGRESS}/{EGRESS_SOCKET}") if leads_out else None,
    )


def has_way_out(spec: RunSpec) -> bool:
    """Whether the proxy's socket is wanted inside; on L0 a workload has the machine's own network anyway."""
    return spec.request.egress and not spec.request.network and spec.level is IsolationLevel.L1


def is_inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def needs_scratch(request: LaunchRequest) -> bool:
    """Whether the working directory is in no mount, and so has to be made."""
    return not any(is_inside(request.workdir, mount.target) for mount in request.mounts)


def _host_paths(spec: RunSpec, run: RunDirectory) -> dict[str, str]:
    places = {mount.target: mount.source for mount in spec.mounts}
    if needs_scratch(spec.request):
        places[spec.request.workdir] = str(run.scratch)
    return places


def rewriter(places: Mapping[str, str]) -> Callable[[str], str]:
    """A function that replaces each path of `places`, as a whole path or as a leading part of one, in one pass."""
    if not places:
        return str
    targets = sorted(places, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w./-])({'|'.join(map(re.escape, targets))})(?![\w.-])")
    return lambda text: pattern.sub(lambda match: places[match[1]], text)


def _defaults(request: LaunchRequest, runtime: Path, temporary: str) -> dict[str, str]:
    return {
        "PATH": f"{runtime}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": temporary,
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "VIRTUAL_ENV": str(runtime),
        "PYTHONUNBUFFERED": "1",
        # Numerical libraries start a thread per core of the machine, not per core granted, and crawl.
        "OMP_NUM_THREADS": str(max(1, -(-request.cpu_milli // 1000))),
    }


def _proxy() -> dict[str, str]:
    """In both spellings: curl reads the lower one only, most others either."""
    variables = {f"{name}_proxy": f"http://127.0.0.1:{EGRESS_PORT}" for name in ("http", "https")}
    variables["no_proxy"] = "localhost,127.0.0.1,::1"
    return variables | {name.upper(): value for name, value in variables.items()} | packages.settings()


def _enforced(request: LaunchRequest, ports: str, place: Callable[[str], str], temporary: str) -> dict[str, str]:
    variables = {variable_name(mount.target): place(mount.target) for mount in request.mounts}
    variables |= devices.environment(request.devices, temporary)
    variables |= {MARKER: str(request.attempt_id), "PLSTACK_WORKLOAD": str(request.workload_id)}
    return variables | {"PLSTACK_PORTS": ports}


def variable_name(target: str) -> str:
    """`/workspace/code` is told to the workload as PLSTACK_CODE."""
    return "PLSTACK_" + re.sub(r"\W", "_", target.rstrip("/").rpartition("/")[2], flags=re.ASCII).upper()


def tool_variable(name: str) -> str:
    """Where the tool `code-server` is told to the workload: PLSTACK_TOOL_CODE_SERVER."""
    return "PLSTACK_TOOL_" + re.sub(r"\W", "_", name, flags=re.ASCII).upper()


def shim_environment(run: RunDirectory) -> dict[str, str]:
    """None of the platform's secrets: only what the installer of runtimes needs."""
    wanted = {
        name: value
        for name, value in os.environ.items()
        if name in _SHIM_VARIABLES or name.startswith("PIP_") or name.lower().endswith("_proxy")
    }
    return wanted | {MARKER: run.path.name}
