"""The rights that the platform needs on a cluster, and the manifest of an account that has them and no others."""

from collections.abc import Iterator
from typing import Any, NamedTuple

NAME = "plstack"
CORE, NETWORKING, RESOURCES, SCHEDULING = "", "networking.k8s.io", "resource.k8s.io", "scheduling.k8s.io"
STORAGE = "storage.k8s.io"


class Need(NamedTuple):
    """Verbs on all objects of a kind: namespaces are made as organisations come, so no narrower rule can be named."""

    group: str
    resource: str
    verbs: tuple[str, ...]


APPLY = ("create", "patch")  # server-side apply makes what is not there
NEEDED = (
    Need(CORE, "namespaces", ("get", *APPLY)),
    Need(CORE, "nodes", ("list", "watch")),
    Need(CORE, "pods", ("create", "delete", "get", "list", "watch")),
    Need(CORE, "secrets", ("create", "delete")),
    Need(CORE, "services", ("create", "delete")),
    Need(CORE, "configmaps", ("create",)),
    Need(CORE, "persistentvolumes", APPLY),
    Need(CORE, "persistentvolumeclaims", APPLY),
    Need(CORE, "resourcequotas", APPLY),
    Need(NETWORKING, "networkpolicies", (*APPLY, "delete")),
    Need(RESOURCES, "resourceclaims", ("create", "delete")),
    Need(RESOURCES, "resourceslices", ("list",)),
    Need(SCHEDULING, "priorityclasses", APPLY),
)

WANTED = (Need(STORAGE, "storageclasses", ("list",)),)
"""What a check of the cluster tells more by; nothing that runs needs it."""


def each_needed() -> Iterator[tuple[Need, str]]:
    return ((need, verb) for need in NEEDED for verb in need.verbs)


def manifests() -> list[dict[str, Any]]:
    """A namespace with a service account, its role, the binding, and a token that does not expire."""
    rules = [
        {"apiGroups": [need.group], "resources": [need.resource], "verbs": sorted(need.verbs)}
        for need in (*NEEDED, *WANTED)
    ]
    subject = {"kind": "ServiceAccount", "name": NAME, "namespace": NAME}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME}
    rbac = "rbac.authorization.k8s.io/v1"
    token = {"name": NAME, "namespace": NAME, "annotations": {"kubernetes.io/service-account.name": NAME}}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAME}},
        {
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": NAME},
            "automountServiceAccountToken": False,
        },
        {"apiVersion": rbac, "kind": "ClusterRole", "metadata": {"name": NAME}, "rules": rules},
        {
            "apiVersion": rbac, "kind": "ClusterRoleBinding", "metadata": {"name": NAME}, "roleRef": role,
            "subjects": [subject],
        },
        {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/service-account-token", "metadata": token},
    ]  # fmt: skip
