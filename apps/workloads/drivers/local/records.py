"""The files of a run directory, and how the contract's dataclasses are written in them as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from apps.workloads.drivers.base import (
    DeviceGrant,
    Exit,
    ExitReason,
    Image,
    IsolationLevel,
    LaunchRequest,
    Mount,
    Observation,
    Phase,
    Progress,
    Reference,
    RuntimeImage,
    RuntimeKind,
    StepTime,
    Usage,
)
from apps.workloads.drivers.disk import DiskLimits
from apps.workloads.drivers.local.volumes import HostMount
from apps.workloads.drivers.said import Code, Said

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
    def exec_socket(self) -> Path:
        return self.path / "exec.sock"

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
    def etc(self) -> Path:
        return self.path / "etc"


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What the driver decided at launch; the shim obeys and never lowers the level by itself.

    `uid`: user and group id of the workload's own, None to run as the platform's user. `home`: without links. `data`:
    root of the storage that is shared with the platform, where fences stand; empty on the platform's own machine.
    `mounts`: the request's, where they lie on this machine.
    """

    request: LaunchRequest
    level: IsolationLevel
    uid: int | None
    use_cgroups: bool
    home: str
    data: str = ""
    mounts: tuple[HostMount, ...] = ()


def encode_spec(spec: RunSpec) -> bytes:
    data = asdict(spec)
    data["request"]["env"] = dict(spec.request.env)
    for key in ("attempt_id", "workload_id", "tenant_id"):
        data["request"][key] = str(data["request"][key])
    return json.dumps(data).encode()


def decode_spec(data: bytes) -> RunSpec:
    fields = json.loads(data)
    asked = fields.pop("request")
    # A record of before mounts named volumes has the paths of this machine in the request itself.
    mounts = fields.pop("mounts", ()) or [mount for mount in asked["mounts"] if "source" in mount]
    fields["mounts"] = tuple(HostMount(**mount) for mount in mounts)
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
    fields["devices"] = tuple(DeviceGrant(**device) for device in fields["devices"])
    return LaunchRequest(**fields)


def _decode_mount(fields: Mapping[str, Any]) -> Mount:
    """One of before mounts named volumes has a path: it is in no volume."""
    if "source" in fields:
        return Mount("", fields["source"], fields["target"], fields["read_only"], fields.get("limit_mib"))
    return Mount(**fields)


def _decode_image(fields: Mapping[str, Any]) -> Image:
    return Reference(**fields) if "digest" in fields else _decode_runtime(fields)


def _decode_runtime(fields: Mapping[str, Any]) -> RuntimeImage:
    kind = RuntimeKind(fields.get("kind", RuntimeKind.PYTHON))
    return RuntimeImage(name=fields["name"], requirements=tuple(fields["requirements"]), kind=kind)


def encode_observation(observation: Observation) -> bytes:
    """What is said lies beside the fields that readers of before codes insist on, which have it in English."""
    data = asdict(observation)
    progress, ended = observation.progress, observation.exit
    if progress is not None:
        data["progress"] = {"text": progress.text, "fraction": progress.fraction}
    if ended is not None:
        fields = {"code": ended.code, "signal": ended.signal, "reason": ended.reason.value, "detail": ended.detail}
        data["exit"] = fields
    spoken = {"progress": progress.said if progress else None, "exit": ended.said if ended else None}
    data["said"] = {name: said.as_json() for name, said in spoken.items() if said is not None}
    return json.dumps(data).encode()


def decode_observation(data: bytes) -> Observation:
    """Raises ValueError, KeyError or TypeError when the file is not one of ours."""
    fields: dict[str, Any] = json.loads(data)
    said: dict[str, Any] = fields.get("said", {})
    return Observation(
        phase=Phase(fields["phase"]),
        steps=tuple(StepTime(Phase(step["name"]), step["seconds"], step["done"]) for step in fields["steps"]),
        progress=_decode_progress(fields["progress"], said.get("progress")),
        ran_for_s=fields["ran_for_s"],
        exit=_decode_exit(fields["exit"], said.get("exit")),
        usage=Usage(**fields["usage"]) if fields["usage"] else None,
        peak_memory_mib=fields["peak_memory_mib"],
        checkpoint_age_s=fields.get("checkpoint_age_s"),
    )


def _decode_progress(fields: Mapping[str, Any] | None, said: object) -> Progress | None:
    return Progress(Said.from_json(said or fields["text"]), fields["fraction"]) if fields else None


def _decode_exit(fields: Mapping[str, Any] | None, said: object) -> Exit | None:
    if fields is None:
        return None
    end = Exit(fields["code"], fields["signal"], ExitReason(fields["reason"]), output=fields["detail"])
    return replace(end, said=Said.from_json(said), output="") if said else end


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
