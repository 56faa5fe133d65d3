"""The files of a run directory, and how the contract's dataclasses are written in them as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from apps.workloads.drivers.base import (
    DeviceGrant,
    Gang,
    Image,
    IsolationLevel,
    LaunchRequest,
    Mount,
    MountCopy,
    Observation,
    Phase,
    PullRules,
    Reference,
    RuntimeImage,
    RuntimeKind,
    Secret,
    SoftwareSources,
)
from apps.workloads.drivers.disk import DiskLimits
from apps.workloads.drivers.local.oci.edits import Edits
from apps.workloads.drivers.local.rdma import RdmaGrant
from apps.workloads.drivers.local.volumes import HostMount
from apps.workloads.drivers.observations import decode_observation as decode_observation
from apps.workloads.drivers.observations import encode_observation as encode_observation
from apps.workloads.drivers.overlay import Kind, Overlay
from apps.workloads.drivers.request import Stage
from apps.workloads.drivers.said import Code, Said

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the folder in it is the attempt's own
MARKER = "PLSTACK_ATTEMPT"
"""Environment variable that every process of an attempt carries, so that none can be overlooked."""


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """`runs/<attempt id>/`: private to the platform (0700); the workload sees only what is mounted from it."""

    path: Path

    @property
    def spec(self) -> Path:
        return self.path / "spec.json"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def state(self) -> Path:
        """The shim's heartbeat. It exists from the moment the lock is held, so a second shim never starts."""
        return self.path / "state.json"

    @property
    def exit(self) -> Path:
        """Written last, when no process is left and the log is whole."""
        return self.path / "exit.json"

    @property
    def exit_room(self) -> Path:
        """Becomes the exit record: its blocks are there from the launch on, so that a full disk hides no end."""
        return self.path / "exit.room"

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def log_times(self) -> Path:
        """When which bytes of the log were stored; not there in runs that an older shim began."""
        return self.path / "log.times"

    @property
    def setup_log(self) -> Path:
        return self.path / "setup.log"

    @property
    def shim_errors(self) -> Path:
        return self.path / "shim.err"

    @property
    def metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def gpu_metrics(self) -> Path:
        return self.path / "gpu.jsonl"

    @property
    def stop(self) -> Path:
        return self.path / "stop"

    @property
    def released(self) -> Path:
        """There once a member of a gang may leave the barrier."""
        return self.path / "released"

    @property
    def exec_socket(self) -> Path:
        return self.path / "exec.sock"

    @property
    def channel(self) -> Path:
        """Where the shim answers; not there in runs that an older one began."""
        return self.path / "channel.sock"

    @property
    def ports(self) -> Path:
        """Unix sockets on which the workload serves: `<port>.sock`."""
        return self.path / "ports"

    @property
    def notice(self) -> Path:
        """What the platform has to say to the program, which may only read it."""
        return self.path / "notice"

    @property
    def scratch(self) -> Path:
        """The working directory when it is not inside a mount."""
        return self.path / "work"

    @property
    def temporary(self) -> Path:
        return self.path / "tmp"

    @property
    def root(self) -> Path:
        """What a container image needs to be the root of this run alone: see `oci.entering`."""
        return self.path / "root"

    @property
    def secret_files(self) -> Path:
        """In memory, where there is no mount namespace to keep them in; with the attempt's name in it."""
        return SHARED_MEMORY / f"plstack-secrets-{self.path.name}"

    @property
    def etc(self) -> Path:
        return self.path / "etc"


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What the driver decided at launch; the shim obeys and never lowers the level by itself.

    `uid`: user and group id of the workload's own, None to run as the platform's user. `home`: without links. `data`:
    root of the storage that is shared with the platform, where fences stand; empty on the platform's own machine.
    `mounts`, `copies`: the request's, where they lie on this machine. `certificates`: the file with all that are to be
    trusted; empty for the system's own. `edits`: what a container image is given of the machine for its devices.
    `rdma`: the adapters that it is given.
    """

    request: LaunchRequest
    level: IsolationLevel
    uid: int | None
    use_cgroups: bool
    home: str
    data: str = ""
    mounts: tuple[HostMount, ...] = ()
    copies: tuple[HostMount, ...] = ()
    certificates: str = ""
    edits: Edits = field(default_factory=Edits)
    rdma: RdmaGrant = field(default_factory=RdmaGrant)


def encode_spec(spec: RunSpec) -> bytes:
    """Of its secrets the names alone."""
    data = asdict(spec)
    data["request"]["env"] = dict(spec.request.env)
    for secret in data["request"]["secrets"]:
        del secret["value"]
    for key in ("attempt_id", "workload_id", "tenant_id"):
        data["request"][key] = str(data["request"][key])
    _leave_out_new_fields(spec, data)
    return json.dumps(data).encode()


def _leave_out_new_fields(spec: RunSpec, data: dict[str, Any]) -> None:
    """Where they say nothing: agents and shims of before they were there refuse their names."""
    for mount in (*data["mounts"], *data["copies"], *data["request"]["mounts"], *data["request"]["copies"]):
        if mount["copy"] is None:
            del mount["copy"]
    if not spec.request.copies:
        del data["request"]["copies"], data["copies"]  # an agent of before there were copies takes the request, too
    if spec.request.gang is None:
        del data["request"]["gang"]  # an agent of before there were gangs takes the request all the same
    else:
        data["request"]["gang"]["group"] = str(spec.request.gang.group)
        if spec.request.gang.overlay is None:
            del data["request"]["gang"]["overlay"]
    for kept in ("edits", "rdma", "certificates"):
        if not getattr(spec, kept):
            del data[kept]
    usuals = {"sources": SoftwareSources(), "pull": PullRules(), "builds": False, "rdma": False, "stages": ()}
    for name, usual in usuals.items():
        if getattr(spec.request, name) == usual:
            del data["request"][name]  # nor do agents of before know these


def decode_spec(data: bytes) -> RunSpec:
    fields = json.loads(data)
    asked = fields.pop("request")
    # A record of before mounts named volumes has the paths of this machine in the request itself.
    mounts = fields.pop("mounts", ()) or [mount for mount in asked["mounts"] if "source" in mount]
    fields["mounts"] = tuple(HostMount(**_with_copy(mount)) for mount in mounts)
    fields["copies"] = tuple(HostMount(**_with_copy(mount)) for mount in fields.get("copies", ()))
    fields["edits"] = Edits.from_json(fields["edits"]) if "edits" in fields else Edits()
    fields["rdma"] = RdmaGrant.from_json(fields["rdma"]) if "rdma" in fields else RdmaGrant()
    return RunSpec(request=_decode_request(asked), level=IsolationLevel(fields.pop("level")), **fields)


def _decode_request(fields: dict[str, Any]) -> LaunchRequest:
    for key in ("attempt_id", "workload_id", "tenant_id"):
        fields[key] = UUID(fields[key])
    fields["image"] = _decode_image(fields["image"])
    fields["disk"] = DiskLimits(**fields.get("disk", {}))
    fields["tools"] = tuple(_decode_runtime(tool) for tool in fields.get("tools", ()))
    fields["ports"] = tuple(fields.get("ports", ()))
    fields["argv"] = tuple(fields["argv"])
    fields["mounts"] = tuple(map(_decode_mount, fields["mounts"]))
    fields["copies"] = tuple(map(_decode_mount, fields.get("copies", ())))
    fields["devices"] = tuple(DeviceGrant(**device) for device in fields["devices"])
    fields["secrets"] = tuple(Secret(**secret) for secret in fields.get("secrets", ()))
    fields["gang"] = _decode_gang(fields.get("gang"))
    fields["sources"] = SoftwareSources(**fields.get("sources", {}))
    pull = fields.get("pull", {})
    fields["pull"] = PullRules(**{**pull, "plain_http": tuple(pull.get("plain_http", ()))})
    fields["stages"] = tuple(map(_decode_stage, fields.get("stages", ())))
    return LaunchRequest(**fields)


def _decode_stage(fields: Mapping[str, Any]) -> Stage:
    return Stage(Reference(**fields["image"]), tuple(fields["argv"]), tuple(fields["writes"]))


def _decode_gang(fields: Mapping[str, Any] | None) -> Gang | None:
    if not fields:
        return None
    found = fields.get("overlay")
    overlay = Overlay(found["number"], tuple(found["addresses"]), Kind(found["kind"])) if found else None
    return Gang(UUID(fields["group"]), fields["rank"], tuple(fields["nodes"]), overlay)


def _decode_mount(fields: Mapping[str, Any]) -> Mount:
    """One of before mounts named volumes has a path: it is in no volume."""
    if "source" in fields:
        return Mount("", fields["source"], fields["target"], fields["read_only"], fields.get("limit_mib"))
    return Mount(**_with_copy(fields))


def _with_copy(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {**fields, "copy": MountCopy(**fields["copy"])} if fields.get("copy") else {**fields}


def _decode_image(fields: Mapping[str, Any]) -> Image:
    return Reference(**fields) if "digest" in fields else _decode_runtime(fields)


def _decode_runtime(fields: Mapping[str, Any]) -> RuntimeImage:
    kind = RuntimeKind(fields.get("kind", RuntimeKind.PYTHON))
    return RuntimeImage(name=fields["name"], requirements=tuple(fields["requirements"]), kind=kind)


def last_state(run: RunDirectory) -> Observation:
    """The last heartbeat. A power cut may have left it empty; that must not make a proven loss unknowable."""
    try:
        return decode_observation(run.state.read_bytes())
    except (ValueError, KeyError, TypeError):
        return Observation(Phase.LOST)


def last_words(run: RunDirectory) -> Said:
    """What the shim wrote before it died, if anything."""
    try:
        lines = run.shim_errors.read_text(errors="replace").strip().splitlines()
    except OSError:
        return Said.plain("")
    return Said.plain(lines[-1]) if lines else Said(Code.SHIM_KILLED)
