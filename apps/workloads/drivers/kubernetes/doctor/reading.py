"""Checks that only read what the API tells."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from kubernetes import client

from apps.workloads.drivers.kubernetes.account import NEEDED, WANTED, Need
from apps.workloads.drivers.kubernetes.cluster import FORBIDDEN, TIMEOUT_S, Cluster
from apps.workloads.drivers.kubernetes.doctor.findings import Check, Finding, Level
from apps.workloads.drivers.kubernetes.inspection import may
from apps.workloads.drivers.kubernetes.inventory import COUNTED, SeenNode

LEAST_MINOR = 34
MOST_SKEW = 3  # Kubernetes, "Version Skew Policy": kubelets may be three minor versions older
APPLY_ACCOUNT = "kubectl apply -f deploy/kubernetes/zone-account.yaml"
GPU_OPERATOR = "helm install gpu-operator nvidia/gpu-operator -n gpu-operator --create-namespace"
DRA_DRIVER = "helm install nvidia-dra-driver-gpu nvidia/nvidia-dra-driver-gpu -n nvidia-dra --create-namespace"
SHOWN = 8


def answer(cluster: Cluster) -> tuple[Finding, str]:
    """That it answers, and its version. Raises ApiException, HTTPError."""
    began = time.monotonic()
    version = str(client.VersionApi(cluster.api).get_code(_request_timeout=TIMEOUT_S).git_version or "")
    took = round((time.monotonic() - began) * 1000)
    params = {"ms": took, "server": str(cluster.api.configuration.host)}
    return Finding(Check.ANSWER, Level.OK, "answers", params), version


def versions(server: str, nodes: Sequence[SeenNode]) -> Finding:
    kubelets = Counter(node.facts.get("kubelet", "") for node in nodes)
    told = [f"{version} × {count}" for version, count in sorted(kubelets.items())]
    params: dict[str, Any] = {"version": server, "kubelets": told, "least": f"1.{LEAST_MINOR}"}
    minor = minor_of(server)
    if minor < LEAST_MINOR:
        return Finding(Check.VERSION, Level.FAIL, "old", params, "kubeadm upgrade plan")
    late = [node.name for node in nodes if minor - minor_of(node.facts.get("kubelet", "")) > MOST_SKEW]
    if late:
        params["nodes"] = late[:SHOWN]
        return Finding(Check.VERSION, Level.WARN, "skew", params, "kubeadm upgrade node")
    return Finding(Check.VERSION, Level.OK, "fits", params)


def minor_of(version: str) -> int:
    """34 of `v1.34.2-gke.1`; 0 of what is no version."""
    found = re.match(r"v?1\.(\d+)", version)
    return int(found.group(1)) if found else 0


def permissions(cluster: Cluster) -> Finding:
    """Each right is asked for: roles may come from anywhere. Raises ApiException, HTTPError."""
    held = [
        {"resource": need.resource, "verbs": {verb: may(cluster, need, verb) for verb in need.verbs}}
        for need in (*NEEDED, *WANTED)
    ]
    missing = _missing(held, NEEDED)
    params = {"table": held, "missing": missing, "wanted": _missing(held, WANTED), "count": _count(held)}
    if missing:
        return Finding(Check.PERMISSIONS, Level.FAIL, "missing", params, APPLY_ACCOUNT)
    if params["wanted"]:
        return Finding(Check.PERMISSIONS, Level.WARN, "wanted", params, APPLY_ACCOUNT)
    return Finding(Check.PERMISSIONS, Level.OK, "held", params)


def _missing(held: Iterable[dict[str, Any]], of: Iterable[Need]) -> list[str]:
    names = {need.resource for need in of}
    return [
        f"{verb} {each['resource']}"
        for each in held
        if each["resource"] in names
        for verb, has in each["verbs"].items()
        if not has
    ]


def _count(held: Iterable[dict[str, Any]]) -> int:
    return sum(len(each["verbs"]) for each in held)


def ready_nodes(nodes: Sequence[SeenNode]) -> Finding:
    bad = [node for node in nodes if not node.ready]
    pressed = [node for node in nodes if node.ready and node.troubles]
    params: dict[str, Any] = {"count": len(nodes), "cordoned": [node.name for node in nodes if node.cordoned][:SHOWN]}
    if not nodes or len(bad) == len(nodes):
        return Finding(Check.NODES, Level.FAIL, "none", params, "kubectl get nodes -o wide")
    if bad or pressed:
        worst = (bad or pressed)[0]
        params["bad"] = [f"{node.name}: {', '.join(node.troubles) or 'NotReady'}" for node in (*bad, *pressed)][:SHOWN]
        return Finding(Check.NODES, Level.WARN, "troubles", params, f"kubectl describe node {worst.name}")
    return Finding(Check.NODES, Level.OK, "ready", params)


def cards(nodes: Sequence[SeenNode], slices: Iterable[Any]) -> Finding:
    """Who gives cards: drivers for dynamic resource allocation, by name, and device plugins, by their resource."""
    drivers: Counter[str] = Counter()
    for each in slices:
        drivers[str(each.spec.driver)] += len(each.spec.devices or ())
    plugins: Counter[str] = Counter()
    for node in nodes:
        for name, count in node.allocatable.items():
            if name in COUNTED or name.partition("/")[0] in {known.partition("/")[0] for known in COUNTED}:
                plugins[name] += int(count) if str(count).isdecimal() else 0
    params = {
        "drivers": [f"{name}: {count}" for name, count in sorted(drivers.items())],
        "plugins": [f"{name}: {count}" for name, count in sorted(plugins.items()) if count],
    }
    if params["drivers"]:
        return Finding(Check.CARDS, Level.OK, "claimed", params)
    if params["plugins"]:
        return Finding(Check.CARDS, Level.WARN, "counted", params, DRA_DRIVER)
    return Finding(Check.CARDS, Level.WARN, "none", params, GPU_OPERATOR)


def storage_classes(cluster: Cluster) -> Finding:
    """Raises ApiException, HTTPError."""
    try:
        found = [each.metadata for each in _listed_classes(cluster) if each.metadata is not None]
    except client.ApiException as error:
        if error.status != FORBIDDEN:
            raise
        return Finding(Check.STORAGE_CLASSES, Level.UNKNOWN, "forbidden", {}, APPLY_ACCOUNT)
    told = [f"{each.name} *" if _is_default(each) else str(each.name) for each in found]
    return Finding(Check.STORAGE_CLASSES, Level.OK, "found" if told else "none", {"classes": told[:SHOWN]})


def _listed_classes(cluster: Cluster) -> list[client.V1StorageClass]:
    return client.StorageV1Api(cluster.api).list_storage_class(_request_timeout=TIMEOUT_S).items


def _is_default(about: client.V1ObjectMeta) -> bool:
    return (about.annotations or {}).get("storageclass.kubernetes.io/is-default-class") == "true"
