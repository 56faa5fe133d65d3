"""What an organisation has on a cluster before anything of its runs there: a namespace with its rules and storage."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from kubernetes import client
from kubernetes.client import ApiException

from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import CONFLICT, Cluster, VolumeSource
from apps.workloads.drivers.kubernetes.code import archive
from apps.workloads.drivers.kubernetes.pod import places

APPLY = "application/apply-patch+yaml"
# A size has to be said for a volume that has none of its own; nothing is held to it.
NOMINAL = "1Pi"
DNS = 53


def provide(cluster: Cluster, tenant: UUID) -> None:
    """Makes the organisation's objects as they should be, by server-side apply. Raises ApiException, HTTPError."""
    space = names.namespace(cluster, tenant)
    _apply(cluster.scheduling.patch_priority_class, _priority())
    _apply(cluster.core.patch_namespace, _namespace(cluster, tenant), space)
    for name, source in cluster.volumes.items():
        _apply(cluster.core.patch_persistent_volume, _volume(cluster, tenant, name, source))
        _apply(cluster.core.patch_namespaced_persistent_volume_claim, _claim(cluster, tenant, name), space)
    for policy in policies(cluster, tenant):
        _apply(cluster.networking.patch_namespaced_network_policy, policy, space)
    _apply(cluster.core.patch_namespaced_resource_quota, _quota(cluster, tenant), space)
    _put_code(cluster, tenant, space)


def _apply(patch: Callable[..., Any], body: Any, namespace: str | None = None) -> None:
    where = {"namespace": namespace} if namespace is not None and body.kind != "Namespace" else {}
    patch(body.metadata.name, body=body, field_manager=names.MANAGER, force=True, _content_type=APPLY, **where)


def _meta(cluster: Cluster, tenant: UUID, name: str, **labels: str) -> client.V1ObjectMeta:
    return client.V1ObjectMeta(name=name, labels=names.labels(cluster, tenant) | labels)


def _priority() -> client.V1PriorityClass:
    return client.V1PriorityClass(
        api_version="scheduling.k8s.io/v1",
        kind="PriorityClass",
        metadata=client.V1ObjectMeta(name=names.PRIORITY, labels={"app.kubernetes.io/managed-by": names.MANAGER}),
        value=0,
        preemption_policy="Never",
        description="Work that PLStack has placed.",
    )


def _namespace(cluster: Cluster, tenant: UUID) -> client.V1Namespace:
    security = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    meta = _meta(cluster, tenant, names.namespace(cluster, tenant), **security)
    return client.V1Namespace(api_version="v1", kind="Namespace", metadata=meta)


def _volume(cluster: Cluster, tenant: UUID, name: str, source: VolumeSource) -> client.V1PersistentVolume:
    """One for each organisation: a volume is bound to one claim, and a claim is of one namespace."""
    spec: Any = {
        "capacity": {"storage": NOMINAL},
        "accessModes": ["ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "",
        "claimRef": {"namespace": names.namespace(cluster, tenant), "name": name},
        **source.volume,
    }
    meta = _meta(cluster, tenant, names.volume(cluster, tenant, name))
    return client.V1PersistentVolume(api_version="v1", kind="PersistentVolume", metadata=meta, spec=spec)


def _claim(cluster: Cluster, tenant: UUID, name: str) -> client.V1PersistentVolumeClaim:
    spec = client.V1PersistentVolumeClaimSpec(
        access_modes=["ReadWriteMany"],
        storage_class_name="",
        volume_name=names.volume(cluster, tenant, name),
        resources=client.V1VolumeResourceRequirements(requests={"storage": NOMINAL}),
    )
    meta = _meta(cluster, tenant, name)
    return client.V1PersistentVolumeClaim(api_version="v1", kind="PersistentVolumeClaim", metadata=meta, spec=spec)


def policies(cluster: Cluster, tenant: UUID) -> list[client.V1NetworkPolicy]:
    """Nothing in but to the shim, which asks for a key; nothing out but names. Members of a gang reach each other."""
    shim = client.V1NetworkPolicyPort(protocol="TCP", port=places.PORT)
    dns = [client.V1NetworkPolicyPort(protocol=protocol, port=DNS) for protocol in ("UDP", "TCP")]
    closed = client.V1NetworkPolicySpec(
        pod_selector=client.V1LabelSelector(),
        policy_types=["Ingress", "Egress"],
        ingress=[client.V1NetworkPolicyIngressRule(ports=[shim])],
        egress=[client.V1NetworkPolicyEgressRule(ports=dns)],
    )
    return [_policy(cluster, tenant, "closed", closed)]


def gang_policy(cluster: Cluster, tenant: UUID, group: UUID) -> client.V1NetworkPolicy:
    """Members of this gang reach each other on every port."""
    same = client.V1LabelSelector(match_labels={names.GANG: group.hex})
    peers = [client.V1NetworkPolicyPeer(pod_selector=same)]
    spec = client.V1NetworkPolicySpec(
        pod_selector=same,
        policy_types=["Ingress", "Egress"],
        ingress=[client.V1NetworkPolicyIngressRule(_from=peers)],
        egress=[client.V1NetworkPolicyEgressRule(to=peers)],
    )
    return _policy(cluster, tenant, names.service(group), spec)


def _policy(cluster: Cluster, tenant: UUID, name: str, spec: Any) -> client.V1NetworkPolicy:
    meta = _meta(cluster, tenant, name)
    return client.V1NetworkPolicy(api_version="networking.k8s.io/v1", kind="NetworkPolicy", metadata=meta, spec=spec)


def _quota(cluster: Cluster, tenant: UUID) -> client.V1ResourceQuota:
    """Nobody makes a way in from outside, not even by a mistake of ours."""
    spec = client.V1ResourceQuotaSpec(hard={"services.loadbalancers": "0", "services.nodeports": "0"})
    return client.V1ResourceQuota(
        api_version="v1", kind="ResourceQuota", metadata=_meta(cluster, tenant, "closed"), spec=spec
    )


def _put_code(cluster: Cluster, tenant: UUID, space: str) -> None:
    """Never changed: another version has another name."""
    code = archive()
    body = client.V1ConfigMap(
        metadata=_meta(cluster, tenant, code.name),
        binary_data={places.ARCHIVE: cluster.encoded(code.content)},
        immutable=True,
    )
    try:
        cluster.core.create_namespaced_config_map(space, body, field_manager=names.MANAGER)
    except ApiException as error:
        if error.status != CONFLICT:
            raise
