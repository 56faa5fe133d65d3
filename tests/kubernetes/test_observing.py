"""What a pod's status says."""

from typing import Any

import pytest

from apps.workloads.drivers.base import ExitReason
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.observing import Pod, read, verdict
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
        ("ErrImagePull", ExitReason.IMAGE_FAILED, Code.IMAGE_NOT_PULLED),
        ("ImagePullBackOff", ExitReason.IMAGE_FAILED, Code.IMAGE_NOT_PULLED),
        ("InvalidImageName", ExitReason.IMAGE_FAILED, Code.IMAGE_NOT_PULLED),
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
