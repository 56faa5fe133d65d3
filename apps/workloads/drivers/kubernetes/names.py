"""Names and labels of what the driver makes. They derive from ids, so whoever comes later finds the same."""

import hashlib
import hmac
from collections.abc import Mapping
from uuid import UUID

from apps.workloads.drivers.kubernetes.cluster import Cluster

MANAGER = "plstack"
PLATFORM, TENANT, ATTEMPT, WORKLOAD, GANG, RANK = (
    f"plstack.io/{name}" for name in ("platform", "organisation", "attempt", "workload", "gang", "rank")
)
CLAIM = "data"
PRIORITY = "plstack"
"""The class of all our pods: who gives way to whom is decided here, and no pod of ours ends another for its room."""
PROGRAM, SHIM, PYTHON = "program", "shim", "python"


def namespace(cluster: Cluster, tenant: UUID) -> str:
    """Of an organisation; of its own for each platform."""
    return f"plstack-{short(cluster.platform)}-{tenant.hex}"


def volume(cluster: Cluster, tenant: UUID, name: str) -> str:
    """A PersistentVolume belongs to no namespace, so it is named after one."""
    return f"{namespace(cluster, tenant)}-{name}"


def pod(ref: str) -> str:
    return f"a-{ref}"


def ref_of(pod: str) -> str:
    """Of the attempt whose pod this is."""
    return pod.removeprefix("a-")


def given(ref: str) -> str:
    """The Secret with what the shim is to do."""
    return f"g-{ref}"


def service(group: UUID) -> str:
    """The headless Service by which members of a gang find each other; the domain name of each is `m<rank>.` and it."""
    return f"gang-{group.hex}"


def short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def labels(cluster: Cluster, tenant: UUID) -> dict[str, str]:
    return {"app.kubernetes.io/managed-by": MANAGER, PLATFORM: short(cluster.platform), TENANT: tenant.hex}


def selector(found: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in found.items())


def key(cluster: Cluster, ref: str) -> bytes:
    """What both ends of the attempt's channel have to prove that they know."""
    return hmac.digest(cluster.secret, f"channel {ref}".encode(), "sha256")
