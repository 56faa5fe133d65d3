"""What a pod's status says."""

from typing import Any

import pytest

from apps.workloads.drivers.base import ExitReason
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.causes import cause_of_end, not_pulled, verdict
from apps.workloads.drivers.kubernetes.observing import Container, Pod, State, read
from apps.workloads.drivers.said import Code

META = {"name": "a-1", "namespace": "ns", "uid": "u"}


def pod(status: dict[str, Any], meta: dict[str, Any] | None = None) -> Pod:
    return read({"metadata": meta or META, "spec": SPEC, "status": status})


SPEC = {"nodeName": "gpu-1", "containers": [{"name": names.SHIM}, {"name": names.PROGRAM}]}


def container(name: str, **state: Any) -> dict[str, Any]:
    return {"name": name, "image": "team/torch", "imageID": "", "ready": True, "restartCount": 0, "state": state}


RUNS = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize(
    ("reason", "ends", "code"),
    [
        ("ErrImagePull", ExitReason.IMAGE_FAILED, Code.IMAGE_ABSENT),
        ("ImagePullBackOff", ExitReason.IMAGE_FAILED, Code.IMAGE_ABSENT),
        ("InvalidImageName", ExitReason.IMAGE_FAILED, Code.IMAGE_ABSENT),
        ("CreateContainerConfigError", ExitReason.START_FAILED, Code.CONTAINER_NOT_CREATED),
        ("RunContainerError", ExitReason.START_FAILED, Code.CONTAINER_NOT_CREATED),
    ],
)
def test_what_no_trying_makes_better_ends_it_in_words(reason: str, ends: ExitReason, code: Code) -> None:
    waits = container(names.PROGRAM, waiting={"reason": reason, "message": "not found"})
    found = verdict(pod({"phase": "Pending", "containerStatuses": [container(names.SHIM, **RUNS), waits]}))
    assert found is not None
    assert (found.reason, found.said.code) == (ends, code)
    assert found.said.params["node"] == "gpu-1"
    assert "not found" in str(found.said)


@pytest.mark.parametrize("reason", ["ContainerCreating", "PodInitializing", ""])
def test_what_only_takes_time_ends_nothing(reason: str) -> None:
    waits = container(names.PROGRAM, waiting={"reason": reason})
    assert verdict(pod({"phase": "Pending", "containerStatuses": [waits]})) is None


@pytest.mark.parametrize(("reason", "code"), [("Evicted", Code.POD_EVICTED), ("OutOfcpu", Code.POD_REFUSED_BY_NODE)])
def test_a_pod_that_its_node_never_took_is_lost_and_nobodys_fault(reason: str, code: Code) -> None:
    found = verdict(pod({"phase": "Failed", "reason": reason, "message": "no room"}))
    assert found is not None
    assert (found.reason, found.said.code) == (ExitReason.LOST, code)


def test_the_kernel_that_ended_the_program_is_told_from_the_shims() -> None:
    killed = {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}
    ours = pod(
        {"phase": "Running", "containerStatuses": [container(names.SHIM, **RUNS), container(names.PROGRAM, **killed)]}
    )
    assert ours.out_of_memory
    assert ours.shim_runs
    shims = pod(
        {"phase": "Running", "containerStatuses": [container(names.SHIM, **killed), container(names.PROGRAM, **RUNS)]}
    )
    assert not shims.out_of_memory
    assert shims.shim_has_ended


def test_progress_says_what_is_waited_for() -> None:
    unscheduled = {"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available"}
    assert pod({"phase": "Pending", "conditions": [unscheduled]}).progress.said.code is Code.POD_NOT_PLACED
    waits = container(names.PROGRAM, waiting={"reason": "ContainerCreating"})
    pulling = pod({"phase": "Pending", "containerStatuses": [container(names.SHIM, **RUNS), waits]})
    assert pulling.progress.said.code is Code.PULLING_IMAGE
    assert pod({"phase": "Pending"}).progress.said.code is Code.POD_STARTING


def test_a_pod_of_which_almost_nothing_is_told() -> None:
    assert not pod({}).shim_runs
    with pytest.raises(ValueError, match="without a name"):
        pod({}, {"name": "a"})


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ('failed to resolve reference "hub/a:1": hub/a:1: not found', Code.IMAGE_ABSENT),
        ("pull access denied, repository does not exist or may require authorization", Code.IMAGE_DENIED),
        ("unexpected status from HEAD request: 401 Unauthorized", Code.IMAGE_DENIED),
        ("dial tcp: lookup registry.invalid: no such host", Code.IMAGE_REGISTRY_AWAY),
        ("Get https://hub/v2/: x509: certificate signed by unknown authority", Code.IMAGE_REGISTRY_AWAY),
        ("something else", Code.IMAGE_NOT_PULLED),
    ],
)
def test_why_an_image_was_not_pulled(error: str, code: Code) -> None:
    said = not_pulled("gpu-1", Container(names.PROGRAM, "hub/a:1", State.WAITING, "ErrImagePull", error))
    assert (said.code, said.params["image"]) == (code, "hub/a:1")
    assert "hub/a:1" in str(said)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (
            {"reason": "Evicted", "message": "The node was low on resource: memory."},
            Code.POD_EVICTED_MEMORY,
        ),
        ({"reason": "Evicted", "message": "The node was low on resource: ephemeral-storage."}, Code.POD_EVICTED_DISK),
        ({"reason": "Evicted", "message": "The node had condition: [DiskPressure]."}, Code.POD_EVICTED_DISK),
        ({"reason": "Evicted", "message": "Pod was rejected"}, Code.POD_EVICTED),
        ({"reason": "NodeLost"}, Code.POD_NODE_LOST),
    ],
)
def test_why_a_node_ended_a_pod(status: dict[str, Any], code: Code) -> None:
    said = cause_of_end(pod({"phase": "Failed"} | status))
    assert said is not None
    assert said.code is code
    assert said.params["node"] == "gpu-1"


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("PreemptionByScheduler", Code.POD_PREEMPTED),
        ("EvictionByEvictionAPI", Code.POD_DRAINED),
        ("DeletionByTaintManager", Code.POD_NODE_LOST),
    ],
)
def test_who_disrupted_a_pod(reason: str, code: Code) -> None:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason}
    said = cause_of_end(pod({"phase": "Running", "conditions": [condition]}))
    assert said is not None
    assert said.code is code


def test_a_pod_that_nobody_ended_has_no_cause() -> None:
    assert cause_of_end(pod({"phase": "Running"})) is None
