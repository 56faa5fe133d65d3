"""What a pod's status says of its attempt. Kubernetes, "Pod Lifecycle" and the reasons that kubelets give."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from kubernetes.client import V1ContainerStatus, V1Pod

from apps.workloads.drivers.base import ExitReason, Progress
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.said import Code, Said

# What a kubelet tries again and again, and what no trying makes better.
NOT_PULLED = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"}
)
NOT_CREATED = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError"})
MOST = 300


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


def read(found: V1Pod) -> Pod:
    """Of what the API tells, which may leave out almost anything. Raises ValueError for one without a name."""
    meta, spec, status = found.metadata, found.spec, found.status
    if meta is None or not (meta.name and meta.namespace and meta.uid):
        raise ValueError("a pod without a name")
    base = Pod(meta.name, meta.namespace, meta.uid)
    if spec is None or status is None:
        return base
    waits = (each for each in status.conditions or () if each.type == "PodScheduled" and each.status == "False")
    return Pod(
        *(meta.name, meta.namespace, meta.uid),
        node=spec.node_name or "",
        address=status.pod_ip or "",
        phase=status.phase or "",
        reason=status.reason or "",
        message=(status.message or "")[:MOST],
        unscheduled=next(((each.message or "")[:MOST] for each in waits), ""),
        has_claims=bool(spec.resource_claims),
        gang=(meta.labels or {}).get(names.GANG, ""),
        rank=int((meta.labels or {}).get(names.RANK, "0")),
        containers=tuple(_containers((*(status.init_container_statuses or ()), *(status.container_statuses or ())))),
    )


def _containers(statuses: Iterable[V1ContainerStatus]) -> Iterable[Container]:
    for each in statuses:
        states: Mapping[State, object] = (
            {}
            if each.state is None
            else {
                State.WAITING: each.state.waiting,
                State.RUNNING: each.state.running,
                State.TERMINATED: each.state.terminated,
            }
        )
        state = next((name for name, value in states.items() if value is not None), State.WAITING)
        about = states.get(state)
        reason, message = getattr(about, "reason", None) or "", getattr(about, "message", None) or ""
        yield Container(each.name, each.image, state, reason, message[:MOST])
