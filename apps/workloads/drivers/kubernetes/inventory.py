"""The nodes of a cluster and what others leave of them, from raw objects of the API."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

from kubernetes.utils.quantity import parse_quantity

from apps.clusters.cards import Card
from apps.clusters.discovery import MIB, Machine
from apps.workloads.drivers.base import Isolation, IsolationLevel
from apps.workloads.drivers.capabilities import FoundNode
from apps.workloads.drivers.kubernetes.devices import DRIVER
from apps.workloads.drivers.said import Code, Said

# What GPU feature discovery writes: NVIDIA, "GPU Feature Discovery", labels.
PRODUCT_LABEL, MEMORY_LABEL = "nvidia.com/gpu.product", "nvidia.com/gpu.memory"
COUNTED = {"nvidia.com/gpu": "nvidia", "amd.com/gpu": "amd", "huawei.com/Ascend910": "huawei"}
FACTS = {
    "os": "osImage",
    "kernel": "kernelVersion",
    "kubelet": "kubeletVersion",
    "container runtime": "containerRuntimeVersion",
}
Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Taken:
    """What pods of others ask for on a node. Empty `node`: they hold nothing anywhere."""

    node: str = ""
    cpu_milli: int = 0
    memory_mib: int = 0


@dataclass(frozen=True, slots=True)
class SeenNode:
    """`troubles`: conditions that are not as they should be, with their message. `cordoned`: its cluster sends nothing
    new there.
    """

    name: str
    uid: str
    ready: bool
    cordoned: bool
    allocatable: Raw
    labels: Raw
    facts: Mapping[str, str]
    arch: str
    troubles: Mapping[str, str] = field(default_factory=dict)


def read_node(found: Raw) -> tuple[str, SeenNode]:
    """What is kept of a node, by its name."""
    meta, status = found["metadata"], found.get("status") or {}
    info = status.get("nodeInfo") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    bad = {
        kind: str(each.get("message", ""))[:300]
        for kind, each in conditions.items()
        if each.get("status") != ("True" if kind == "Ready" else "False")
    }
    labels = meta.get("labels") or {}
    return meta["name"], SeenNode(
        name=meta["name"],
        uid=meta["uid"],
        ready=conditions.get("Ready", {}).get("status") == "True",
        cordoned=bool((found.get("spec") or {}).get("unschedulable")),
        allocatable=status.get("allocatable") or {},
        labels={name: labels[name] for name in (PRODUCT_LABEL, MEMORY_LABEL) if name in labels},
        facts={name: str(info.get(column, "")) for name, column in FACTS.items()},
        arch=str(info.get("architecture", "")),
        troubles=bad,
    )


def taken_by(pod: Raw) -> Taken:
    """What a pod of somebody else's holds; one that has ended, or has no place yet, holds nothing."""
    spec = pod.get("spec") or {}
    node = spec.get("nodeName", "")
    if not node or (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return Taken()
    asked = [(each.get("resources") or {}).get("requests") or {} for each in spec.get("containers") or ()]
    return Taken(node, sum(milli(each.get("cpu", "0")) for each in asked), sum(_memory(each) for each in asked))


def _memory(asked: Raw) -> int:
    return mib(asked.get("memory", "0"))


def by_node(pods: Iterable[Taken]) -> dict[str, Taken]:
    found: dict[str, Taken] = {}
    for each in pods:
        if each.node:
            before = found.get(each.node, Taken())
            found[each.node] = Taken(each.node, before.cpu_milli + each.cpu_milli, before.memory_mib + each.memory_mib)
    return found


def machines(nodes: Iterable[SeenNode], taken: Mapping[str, Taken], slices: Iterable[Any] | None) -> list[FoundNode]:
    """Nodes that are ready, with what foreign pods leave of them. `slices`: where cards are claimed one by one."""
    return [_machine(each, taken.get(each.name, Taken()), slices) for each in nodes if each.ready]


def _machine(node: SeenNode, taken: Taken, slices: Iterable[Any] | None) -> FoundNode:
    room = node.allocatable
    disk = mib(room.get("ephemeral-storage", "0"))
    machine = Machine(
        name=node.name[:80],
        arch=node.arch,
        cpu_milli=max(0, milli(room.get("cpu", "0")) - taken.cpu_milli),
        memory_mib=max(0, mib(room.get("memory", "0")) - taken.memory_mib),
        memory_used_mib=taken.memory_mib,
        disk_mib=disk,
        disk_free_mib=disk,
        cpu_pct=0.0,
        facts=dict(node.facts),
        cards=tuple(counted(node) if slices is None else claimed(node.name, slices)),
    )
    return FoundNode(node.uid, machine, Isolation(IsolationLevel.L1, (Said(Code.POD_SECURITY_RESTRICTED),)))


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


def counted(node: SeenNode) -> Iterable[Card]:
    """Cards of which only the number is known: each is a place, and the node says which card it was."""
    index = 0
    for resource, vendor in COUNTED.items():
        for number in range(int(node.allocatable.get(resource, "0"))):
            memory = node.labels.get(MEMORY_LABEL, "0") if vendor == "nvidia" else "0"
            yield Card(
                uuid=f"{node.uid}/{resource}/{number}", index=index, vendor=vendor,
                model=node.labels.get(PRODUCT_LABEL, resource), memory_mib=int(memory) if memory.isdigit() else 0,
            )  # fmt: skip
            index += 1


def _text(attributes: Mapping[str, Any], name: str) -> str:
    found = attributes.get(name)
    return "" if found is None else str(found.string or "")


def milli(quantity: str) -> int:
    return int(_amount(quantity) * 1000)


def mib(quantity: str) -> int:
    return int(_amount(quantity) // MIB)


@lru_cache(maxsize=4096)
def _amount(quantity: str) -> Decimal:
    found: Decimal = parse_quantity(quantity)  # type: ignore[no-untyped-call]
    return found
