"""What a pod's status says of its attempt. Kubernetes, "Pod Lifecycle" and the reasons that kubelets give."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.workloads.drivers.base import Progress
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.said import Code, Said

# What a kubelet tries again and again, and what no trying makes better.
NOT_PULLED = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"}
)
NOT_CREATED = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError"})
MOST = 300
Raw = Mapping[str, Any]


class State(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    TERMINATED = "terminated"


@dataclass(frozen=True, slots=True)
class Container:
    """`reason`, `message`: of a state that is not running."""

    name: str
    image: str
    state: State
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Pod:
    """What matters of one. `unscheduled`: why the cluster does not let it onto its node; empty once it has.
    `disruption`: by whom the cluster has it ended, as its condition DisruptionTarget says.
    """

    name: str
    namespace: str
    uid: str
    node: str = ""
    address: str = ""
    phase: str = ""
    reason: str = ""
    message: str = ""
    unscheduled: str = ""
    disruption: str = ""
    has_claims: bool = False
    gang: str = ""
    rank: int = 0
    containers: tuple[Container, ...] = ()

    @property
    def shim_runs(self) -> bool:
        return self._state(names.SHIM) is State.RUNNING

    @property
    def shim_has_ended(self) -> bool:
        return self._state(names.SHIM) is State.TERMINATED

    @property
    def program_has_ended(self) -> bool:
        return self._state(names.PROGRAM) is State.TERMINATED

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel ended the program's container for its memory."""
        program = self.container(names.PROGRAM)
        return program is not None and program.state is State.TERMINATED and program.reason == "OOMKilled"

    @property
    def may_have_ended(self) -> bool:
        """Whether it will not run, or has: no more than a reason to ask again."""
        waits = {each.reason for each in self.containers if each.state is State.WAITING}
        hopeless = bool(waits & (NOT_PULLED | NOT_CREATED)) or self.phase == "Failed"
        return self.shim_has_ended or self.program_has_ended or hopeless

    @property
    def progress(self) -> Progress:
        """Before the shim has something to say."""
        if self.unscheduled:
            return Progress(Said(Code.POD_NOT_PLACED, {"error": self.unscheduled}))
        program = self.container(names.PROGRAM)
        if self.shim_runs and program is not None and program.state is State.WAITING:
            return Progress(Said(Code.PULLING_IMAGE, {"image": program.image}))
        return Progress(Said(Code.POD_STARTING))

    def container(self, name: str) -> Container | None:
        return next((each for each in self.containers if each.name == name), None)

    def _state(self, name: str) -> State | None:
        found = self.container(name)
        return None if found is None else found.state


def read(found: Raw) -> Pod:
    """Of what the API tells, which may leave out almost anything. Raises ValueError for one without a name."""
    meta, spec, status = (found.get(part) or {} for part in ("metadata", "spec", "status"))
    if not (meta.get("name") and meta.get("namespace") and meta.get("uid")):
        raise ValueError("a pod without a name")
    conditions = status.get("conditions") or ()
    waits = (each for each in conditions if each["type"] == "PodScheduled" and _is_false(each))
    labels = meta.get("labels") or {}
    containers = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    return Pod(
        *(meta["name"], meta["namespace"], meta["uid"]),
        node=spec.get("nodeName", ""),
        address=status.get("podIP", ""),
        phase=status.get("phase", ""),
        reason=status.get("reason", ""),
        message=status.get("message", "")[:MOST],
        unscheduled=next((each.get("message", "")[:MOST] for each in waits), ""),
        disruption=next((each.get("reason", "") for each in conditions if each["type"] == "DisruptionTarget"), ""),
        has_claims=bool(spec.get("resourceClaims")),
        gang=labels.get(names.GANG, ""),
        rank=int(labels.get(names.RANK, "0")),
        containers=tuple(map(_container, containers)),
    )


def _is_false(condition: Raw) -> bool:
    return bool(condition.get("status") == "False")


def _container(status: Raw) -> Container:
    states = status.get("state") or {}
    state = next((each for each in State if states.get(each.value) is not None), State.WAITING)
    about = states.get(state.value) or {}
    return Container(
        status["name"], status.get("image", ""), state, about.get("reason", ""), about.get("message", "")[:MOST]
    )
