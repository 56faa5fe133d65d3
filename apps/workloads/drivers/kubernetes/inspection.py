"""What a cluster is and has: asked when it is added, and again and again."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kubernetes import client
from kubernetes.utils.quantity import parse_quantity

from apps.clusters.cards import Card
from apps.clusters.discovery import MIB, Machine
from apps.workloads.drivers.base import Isolation, IsolationLevel
from apps.workloads.drivers.capabilities import FoundNode
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.account import Need, each_needed
from apps.workloads.drivers.kubernetes.cluster import TIMEOUT_S, Cluster, asking
from apps.workloads.drivers.kubernetes.devices import DRIVER
from apps.workloads.drivers.said import Code, Said

LEAST_MINOR_FOR_USER_NAMESPACES = 33  # on by default from then on
# What GPU feature discovery writes: NVIDIA, "GPU Feature Discovery", labels.
PRODUCT_LABEL, MEMORY_LABEL = "nvidia.com/gpu.product", "nvidia.com/gpu.memory"
COUNTED = {"nvidia.com/gpu": "nvidia", "amd.com/gpu": "amd", "huawei.com/Ascend910": "huawei"}


@dataclass(frozen=True, slots=True)
class Facts:
    """`missing`: permissions that are needed and not held, as `verb resource`."""

    uid: str
    version: str
    claims_cards: bool
    user_namespaces: bool
    missing: tuple[str, ...]


def inspect(cluster: Cluster) -> Facts:
    """Raises CannotSee, or ApiException for an answer that makes no sense."""
    with asking():
        version = client.VersionApi(cluster.api).get_code(_request_timeout=TIMEOUT_S)
        space = cluster.core.read_namespace("kube-system", _request_timeout=TIMEOUT_S)
        missing = tuple(f"{verb} {need.resource}" for need, verb in each_needed() if not _may(cluster, need, verb))
        slices = cluster.resources.list_resource_slice(_request_timeout=TIMEOUT_S).items
    minor = int(re.sub(r"\D.*", "", version.minor or "0") or 0)
    return Facts(
        uid=str(space.metadata.uid if space.metadata else ""),
        version=version.git_version or "",
        claims_cards=any(each.spec.driver == DRIVER for each in slices),  # a class may be left of a driver that is gone
        user_namespaces=minor >= LEAST_MINOR_FOR_USER_NAMESPACES,
        missing=missing,
    )


def _may(cluster: Cluster, need: Need, verb: str) -> bool:
    asked = client.V1SelfSubjectAccessReview(
        spec=client.V1SelfSubjectAccessReviewSpec(
            resource_attributes=client.V1ResourceAttributes(group=need.group, resource=need.resource, verb=verb)
        )
    )
    answer = client.AuthorizationV1Api(cluster.api).create_self_subject_access_review(asked, _request_timeout=TIMEOUT_S)
    return bool(answer.status and answer.status.allowed)


def nodes(cluster: Cluster) -> list[FoundNode]:
    """Those that are ready, with what foreign pods leave of them. Raises CannotSee."""
    with asking():
        found = cluster.core.list_node(_request_timeout=TIMEOUT_S).items
        pods = cluster.core.list_pod_for_all_namespaces(_request_timeout=TIMEOUT_S).items
        slices = cluster.resources.list_resource_slice(_request_timeout=TIMEOUT_S).items if cluster.dra else []
    taken = foreign(pods, names.short(cluster.platform))
    return [_found(each, taken, slices, dra=cluster.dra) for each in found if _ready(each)]


@dataclass(frozen=True, slots=True)
class Taken:
    """What pods of others ask for on a node."""

    cpu_milli: int = 0
    memory_mib: int = 0


def foreign(pods: Iterable[Any], platform: str) -> dict[str, Taken]:
    """By node; those that have ended hold nothing."""
    found: dict[str, Taken] = {}
    for pod in pods:
        ours = (pod.metadata.labels or {}).get(names.PLATFORM) == platform
        if ours or pod.status.phase in ("Succeeded", "Failed") or not pod.spec.node_name:
            continue
        cpu = memory = 0
        for container in pod.spec.containers:
            asked = (container.resources.requests if container.resources else None) or {}
            cpu += milli(asked.get("cpu", "0"))
            memory += mib(asked.get("memory", "0"))
        before = found.get(pod.spec.node_name, Taken())
        found[pod.spec.node_name] = Taken(before.cpu_milli + cpu, before.memory_mib + memory)
    return found


def _ready(node: Any) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in node.status.conditions or ())


def _found(node: Any, all_taken: Mapping[str, Taken], slices: Iterable[Any], *, dra: bool) -> FoundNode:
    taken = all_taken.get(node.metadata.name, Taken())
    room, info = node.status.allocatable or {}, node.status.node_info
    cpu, memory = milli(room.get("cpu", "0")), mib(room.get("memory", "0"))
    disk = mib(room.get("ephemeral-storage", "0"))
    machine = Machine(
        name=node.metadata.name[:80],
        arch=info.architecture,
        cpu_milli=max(0, cpu - taken.cpu_milli),
        memory_mib=max(0, memory - taken.memory_mib),
        memory_used_mib=taken.memory_mib,
        disk_mib=disk,
        disk_free_mib=disk,
        cpu_pct=0.0,
        facts={
            "os": info.os_image,
            "kernel": info.kernel_version,
            "kubelet": info.kubelet_version,
            "container runtime": info.container_runtime_version,
        },
        cards=tuple(claimed(node.metadata.name, slices) if dra else counted(node)),
    )
    isolation = Isolation(IsolationLevel.L1, (Said(Code.POD_SECURITY_RESTRICTED),))
    return FoundNode(node.metadata.uid, machine, isolation)


def claimed(node: str, slices: Iterable[Any]) -> Iterable[Card]:
    """Cards that are given one by one, each under its own uuid."""
    index = 0
    for each in slices:
        if each.spec.driver != DRIVER or each.spec.node_name != node:
            continue
        for device in each.spec.devices or ():
            attributes, capacity = device.attributes or {}, device.capacity or {}
            uuid = _text(attributes, "uuid")
            if not uuid or _text(attributes, "type") != "gpu":
                continue
            memory = capacity.get("memory")
            yield Card(
                uuid=uuid, index=index, vendor="nvidia", model=_text(attributes, "productName") or "GPU",
                memory_mib=mib(memory.value) if memory is not None else 0,
            )  # fmt: skip
            index += 1


def counted(node: Any) -> Iterable[Card]:
    """Cards of which only the number is known: each is a place, and the node says which card it was."""
    labels = node.metadata.labels or {}
    index = 0
    for resource, vendor in COUNTED.items():
        for number in range(int((node.status.allocatable or {}).get(resource, "0"))):
            memory = labels.get(MEMORY_LABEL, "0") if vendor == "nvidia" else "0"
            yield Card(
                uuid=f"{node.metadata.uid}/{resource}/{number}", index=index, vendor=vendor,
                model=labels.get(PRODUCT_LABEL, resource), memory_mib=int(memory) if memory.isdigit() else 0,
            )  # fmt: skip
            index += 1


def _text(attributes: Mapping[str, Any], name: str) -> str:
    found = attributes.get(name)
    return "" if found is None else str(found.string or "")


def milli(quantity: str) -> int:
    return int(_amount(quantity) * 1000)


def mib(quantity: str) -> int:
    return int(_amount(quantity) // MIB)


def _amount(quantity: str) -> Decimal:
    found: Decimal = parse_quantity(quantity)  # type: ignore[no-untyped-call]
    return found
