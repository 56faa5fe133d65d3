"""What a pod's status says of its attempt. Kubernetes, "Pod Lifecycle" and the reasons that kubelets give."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.workloads.drivers.base import ExitReason, Progress
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
    """What matters of one. `unscheduled`: why the cluster does not let it onto its node; empty once it has."""

    name: str
    namespace: str
    uid: str
    node: str = ""
    address: str = ""
    phase: str = ""
    reason: str = ""
    message: str = ""
    unscheduled: str = ""
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
        return self.shim_has_ended or self.program_has_ended or verdict(self) is not None

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


@dataclass(frozen=True, slots=True)
class Verdict:
    """It will never run: how it is to end."""

    reason: ExitReason
    said: Said


def verdict(pod: Pod) -> Verdict | None:
    """None while it may run, or has run."""
    for each in pod.containers:
        if each.state is not State.WAITING:
            continue
        error = each.message or each.reason
        if each.reason in NOT_PULLED:
            said = Said(Code.IMAGE_NOT_PULLED, {"node": pod.node, "image": each.image, "error": error})
            return Verdict(ExitReason.IMAGE_FAILED, said)
        if each.reason in NOT_CREATED:
            said = Said(Code.CONTAINER_NOT_CREATED, {"node": pod.node, "error": error})
            return Verdict(ExitReason.START_FAILED, said)
    if pod.phase == "Failed" and not pod.containers:
        code = Code.POD_EVICTED if pod.reason == "Evicted" else Code.POD_REFUSED_BY_NODE
        return Verdict(ExitReason.LOST, Said(code, {"node": pod.node, "error": pod.message or pod.reason}))
    return None


def read(found: Raw) -> Pod:
    """Of what the API tells, which may leave out almost anything. Raises ValueError for one without a name."""
    meta, spec, status = (found.get(part) or {} for part in ("metadata", "spec", "status"))
    if not (meta.get("name") and meta.get("namespace") and meta.get("uid")):
        raise ValueError("a pod without a name")
    waits = (each for each in status.get("conditions") or () if each["type"] == "PodScheduled" and _is_false(each))
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
