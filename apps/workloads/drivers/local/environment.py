"""What the workload's process is given: variables, arguments, working directory, the same on both levels.

A request names mount targets. On L1 they exist; on L0 there is no mount namespace, so each is replaced by its source.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from apps.workloads.drivers import software_sources
from apps.workloads.drivers.base import IsolationLevel, LaunchRequest
from apps.workloads.drivers.local import devices
from apps.workloads.drivers.local.gang_network import HOSTS_FILE, interface_variables
from apps.workloads.drivers.local.init import PYTHON_VARIABLE
from apps.workloads.drivers.local.oci.interpreter import interpreter
from apps.workloads.drivers.local.oci.manifest import ImageConfig
from apps.workloads.drivers.local.records import MARKER, RunDirectory, RunSpec
from apps.workloads.drivers.local.runtime import BASE_PYTHON
from apps.workloads.drivers.request import TRACKING_ADDRESS, TRACKING_PORT

SANDBOX_TMP = "/tmp"  # noqa: S108 - private to the sandbox
SANDBOX_PORTS = "/run/plstack/ports"
SANDBOX_EGRESS = "/run/plstack/egress"
SANDBOX_TRACKING = "/run/plstack/tracking"
SANDBOX_BESIDE = "/run/plstack/beside"
BESIDE = Path(__file__).parent / "beside"
"""Modules that programs may import: `plstack_metrics`."""
SANDBOX_NOTICE = "/run/plstack/notice"
SANDBOX_TOOLS = "/run/plstack/tools"
SANDBOX_SECRETS = "/run/secrets"
SANDBOX_CERTIFICATES = "/run/plstack/certificates.pem"
NOTICE_FILE = "notice.json"
NOTICE, CHECKPOINTS, SECRETS = "PLSTACK_NOTICE", "PLSTACK_CHECKPOINTS", "PLSTACK_SECRETS"
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIBRARY_PATH = "LD_LIBRARY_PATH"
EGRESS_SOCKET = "egress.sock"
EGRESS_PORT = 3128
_SHIM_VARIABLES = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
                   "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Command:
    """The workload's process, ready to execute, and what its first process relays for it.

    `folder`: where the sockets of `ports` appear. `way_out`: loopback port and the proxy's Unix socket, or None.
    `secret_files`: contents by name, written into `secret_folder` as the workload's user. `env` holds secrets, too.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    workdir: str
    folder: str
    ports: tuple[int, ...] = ()
    way_out: tuple[int, str] | None = None
    secret_folder: str = ""
    secret_files: Mapping[str, str] = field(default_factory=dict, repr=False)


def command(
    spec: RunSpec, run: RunDirectory, runtime: Path | ImageConfig, tools: Mapping[str, Path] | None = None
) -> Command:
    """The request's command as the workload's process sees it at the level of `spec`; `tools`: path by name.

    In a container image, `runtime` is its configuration, which says what the request leaves open.
    """
    request = spec.request
    isolated = spec.level is IsolationLevel.L1
    place = str if isolated else rewriter(_host_paths(spec, run))
    defaults = _defaults(request, runtime, SANDBOX_TMP if isolated else str(run.temporary))
    defaults |= _of_devices(spec, defaults)
    own = {name: place(value) for name, value in request.env.items()}
    folder = SANDBOX_PORTS if isolated else str(run.ports)
    notice = SANDBOX_NOTICE if isolated else str(run.notice)
    beside = {tool_variable(name): path for name, path in tools_inside(runtime, tools or {}).items()}
    beside |= {PYTHON_VARIABLE: " ".join(python_of(runtime))}
    files = {secret.file: secret.value or "" for secret in request.secrets if secret.file}
    kept_in = (SANDBOX_SECRETS if isolated else str(run.secret_files)) if files else ""
    return Command(
        argv=tuple(place(argument) for argument in argv_of(request, runtime)),
        env=defaults
        | (_sources(spec) if goes_out(request) else {})
        | (_way_out() if has_way_out(spec) else {})
        | (interface_variables(request.gang) if request.gang is not None else {})
        | own
        | {secret.variable: secret.value or "" for secret in request.secrets if secret.variable}
        | _enforced(spec, folder, place, defaults["TMPDIR"])
        | beside
        | {NOTICE: f"{notice}/{NOTICE_FILE}"}
        | ({SECRETS: kept_in} if files else {})
        | _of_member(request, notice)
        | _python_path(spec, defaults | own),
        workdir=place(workdir_of(request, runtime)),
        folder=folder,
        ports=request.ports,
        way_out=_gate(spec),
        secret_folder=kept_in,
        secret_files=files,
    )


def _python_path(spec: RunSpec, env: Mapping[str, str]) -> dict[str, str]:
    """Where there is where to log to: the module that logs metrics, behind what the program's own path has."""
    if TRACKING_ADDRESS not in env:
        return {}
    folder = SANDBOX_BESIDE if spec.level is IsolationLevel.L1 else str(BESIDE)
    return {"PYTHONPATH": os.pathsep.join(filter(None, (env.get("PYTHONPATH"), folder)))}


def argv_of(request: LaunchRequest, image: Path | ImageConfig) -> tuple[str, ...]:
    """What runs: the request's own command, else a container image's entry point with its arguments."""
    if request.argv or isinstance(image, Path):
        return request.argv
    return (*image.entrypoint, *image.cmd)


def workdir_of(request: LaunchRequest, image: Path | ImageConfig) -> str:
    """The request's, else a container image's own."""
    return request.workdir or ("" if isinstance(image, Path) else image.workdir) or "/"


def python_of(image: Path | ImageConfig) -> tuple[str, ...]:
    """How the machine's Python is started inside. Raises OSError where it cannot be looked at."""
    return (str(BASE_PYTHON),) if isinstance(image, Path) else interpreter().argv


def tools_inside(image: Path | ImageConfig, tools: Mapping[str, Path]) -> dict[str, str]:
    """Where the program finds each: in its own place, in a container image in a folder that no image can have."""
    if isinstance(image, Path):
        return {name: str(path) for name, path in tools.items()}
    return {name: f"{SANDBOX_TOOLS}/{name}" for name in tools}


def _of_member(request: LaunchRequest, folder: str) -> dict[str, str]:
    """Who it is among the members of its gang, and where they are named."""
    gang = request.gang
    if gang is None:
        return {}
    return {
        "PLSTACK_RANK": str(gang.rank),
        "PLSTACK_MEMBERS": str(gang.size),
        "PLSTACK_HOSTS": f"{folder}/{HOSTS_FILE}",
    }


def has_way_out(spec: RunSpec) -> bool:
    """Whether the proxy's socket is wanted inside; on L0 a workload has the machine's own network anyway."""
    return spec.request.egress and not spec.request.network and spec.level is IsolationLevel.L1


def only_tracks(spec: RunSpec) -> bool:
    """Whether the one address that it reaches is that at which it logs its metrics."""
    return spec.request.tracking and not goes_out(spec.request) and spec.level is IsolationLevel.L1


def _gate(spec: RunSpec) -> tuple[int, str] | None:
    """A port on the sandbox's loopback, and the socket to which its first process carries what arrives there."""
    if has_way_out(spec):
        return EGRESS_PORT, f"{SANDBOX_EGRESS}/{EGRESS_SOCKET}"
    return (TRACKING_PORT, f"{SANDBOX_TRACKING}/{EGRESS_SOCKET}") if only_tracks(spec) else None


def goes_out(request: LaunchRequest) -> bool:
    """Whether its programs may reach anything beyond the machine."""
    return request.egress or request.network


def has_secret_files(request: LaunchRequest) -> bool:
    return any(secret.file for secret in request.secrets)


def is_inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def needs_scratch(request: LaunchRequest) -> bool:
    """Whether the working directory is in no mount, and so has to be made."""
    return bool(request.workdir) and not any(is_inside(request.workdir, mount.target) for mount in request.mounts)


def _host_paths(spec: RunSpec, run: RunDirectory) -> dict[str, str]:
    places = {mount.target: mount.source for mount in spec.mounts}
    if needs_scratch(spec.request):
        places[spec.request.workdir] = str(run.scratch)
    if has_secret_files(spec.request):
        places[SANDBOX_SECRETS] = str(run.secret_files)
    return places


def rewriter(places: Mapping[str, str]) -> Callable[[str], str]:
    """A function that replaces each path of `places`, as a whole path or as a leading part of one, in one pass."""
    if not places:
        return str
    targets = sorted(places, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w./-])({'|'.join(map(re.escape, targets))})(?![\w.-])")
    return lambda text: pattern.sub(lambda match: places[match[1]], text)


def _defaults(request: LaunchRequest, runtime: Path | ImageConfig, temporary: str) -> dict[str, str]:
    if isinstance(runtime, Path):
        own = {"PATH": f"{runtime}/bin:/usr/local/bin:/usr/bin:/bin", "VIRTUAL_ENV": str(runtime)}
    else:
        own = {"PATH": DEFAULT_PATH, **runtime.env}
    return {
        "HOME": temporary,
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        **own,
        "TMPDIR": temporary,
        "PYTHONUNBUFFERED": "1",
        # Numerical libraries start a thread per core of the machine, not per core granted, and crawl.
        "OMP_NUM_THREADS": str(max(1, -(-request.cpu_milli // 1000))),
    }


def _of_devices(spec: RunSpec, own: Mapping[str, str]) -> dict[str, str]:
    """What the devices' driver wants to be told in an image; its libraries come after the image's own folders."""
    found = dict(spec.edits.env)
    if path := found.get(LIBRARY_PATH):
        found[LIBRARY_PATH] = ":".join(filter(None, (own.get(LIBRARY_PATH), path)))
    return found


def _sources(spec: RunSpec) -> dict[str, str]:
    """Where pip and npm inside download from, and the way there of a program with a network of its own."""
    sources = spec.request.sources.over(software_sources.of_machine())
    inside = SANDBOX_CERTIFICATES if spec.certificates and spec.level is IsolationLevel.L1 else spec.certificates
    way = software_sources.proxy_variables(sources.proxy, sources.no_proxy)
    return way | software_sources.variables(sources, inside)


def _way_out() -> dict[str, str]:
    return software_sources.proxy_variables(f"http://127.0.0.1:{EGRESS_PORT}", "")


def _enforced(spec: RunSpec, ports: str, place: Callable[[str], str], temporary: str) -> dict[str, str]:
    request = spec.request
    variables = {variable_name(mount.target): place(mount.target) for mount in request.mounts}
    variables |= devices.environment(request.devices, temporary) | spec.rdma.variables
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
        if name in _SHIM_VARIABLES
        or name.startswith("PIP_")
        or name.lower().startswith("npm_config_")
        or name.lower().endswith("_proxy")
    }
    return wanted | {MARKER: run.path.name}
