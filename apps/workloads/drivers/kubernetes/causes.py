"""Why a cluster ended a pod, or did not start it: Kubernetes' own reasons, and what kubelets quote of errors."""

from dataclasses import dataclass

from apps.workloads.drivers.base import ExitReason
from apps.workloads.drivers.kubernetes.observing import NOT_CREATED, NOT_PULLED, Container, Pod, State
from apps.workloads.drivers.said import Code, Said

# Kubernetes, "Pod disruption conditions": the reasons of DisruptionTarget.
DISRUPTIONS = {
    "PreemptionByScheduler": Code.POD_PREEMPTED,
    "EvictionByEvictionAPI": Code.POD_DRAINED,
    "DeletionByTaintManager": Code.POD_NODE_LOST,
    "DeletionByPodGC": Code.POD_NODE_LOST,
}
# What a kubelet writes of an eviction: "The node was low on resource: memory. Threshold quantity …".
PRESSURES = {
    "low on resource: memory": Code.POD_EVICTED_MEMORY,
    "low on resource: ephemeral-storage": Code.POD_EVICTED_DISK,
    "low on resource: inodes": Code.POD_EVICTED_DISK,
    "diskpressure": Code.POD_EVICTED_DISK,
    "memorypressure": Code.POD_EVICTED_MEMORY,
}
# In the order in which they are looked for: who cannot reach a registry is told other things of it as well.
AWAY = ("dial tcp", "no such host", "connection refused", "timeout", "x509", "network is unreachable")
DENIED = ("unauthorized", "denied", "authorization", "forbidden", "401", "403", "no basic auth")
ABSENT = ("not found", "manifest unknown", "404")


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
            return Verdict(ExitReason.IMAGE_FAILED, not_pulled(pod.node, each))
        if each.reason in NOT_CREATED:
            said = Said(Code.CONTAINER_NOT_CREATED, {"node": pod.node, "error": error})
            return Verdict(ExitReason.START_FAILED, said)
    if pod.phase == "Failed" and not pod.containers:
        refused = Said(Code.POD_REFUSED_BY_NODE, {"node": pod.node, "error": pod.message or pod.reason})
        return Verdict(ExitReason.LOST, cause_of_end(pod) or refused)
    return None


def cause_of_end(pod: Pod) -> Said | None:
    """Who ended it, if the cluster did; None where its status does not say."""
    if pod.disruption in DISRUPTIONS:
        return Said(DISRUPTIONS[pod.disruption], {"node": pod.node})
    if pod.reason == "Evicted":
        return eviction(pod)
    if pod.reason == "NodeLost":
        return Said(Code.POD_NODE_LOST, {"node": pod.node})
    return None


def eviction(pod: Pod) -> Said:
    message = pod.message.lower()
    code = next((code for words, code in PRESSURES.items() if words in message), None)
    if code is not None:
        return Said(code, {"node": pod.node})
    return Said(Code.POD_EVICTED, {"node": pod.node, "error": pod.message or pod.reason})


def not_pulled(node: str, container: Container) -> Said:
    """Which image, and what of it: the registry is away, it does not let the node in, or it has no such image."""
    error = container.message or container.reason
    lowered = error.lower()
    params = {"node": node, "image": container.image, "error": error}
    if any(words in lowered for words in AWAY):
        return Said(Code.IMAGE_REGISTRY_AWAY, params)
    if any(words in lowered for words in DENIED):
        return Said(Code.IMAGE_DENIED, params)
    if any(words in lowered for words in ABSENT):
        return Said(Code.IMAGE_ABSENT, params)
    return Said(Code.IMAGE_NOT_PULLED, params)
