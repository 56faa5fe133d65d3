"""The contract's kit on a cluster."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.workloads.drivers.base import Handle, LaunchRequest
from apps.workloads.drivers.kubernetes.cluster import Cluster
from tests.drivers.kit import Kit

CPU_MILLI = 400
"""The nodes of the tests are small, and keep what is asked for."""


@dataclass
class KubeKit(Kit):
    """One organisation for all tests, whose namespace is made once; pods end with the test."""

    tenant: UUID = field(kw_only=True)
    node: str = field(kw_only=True)
    launched: list[str] = field(default_factory=list)

    def request(self, *argv: str, **changes: Any) -> LaunchRequest:
        return super().request(
            *argv, **({"tenant_id": self.tenant, "node": self.node, "cpu_milli": CPU_MILLI} | changes)
        )

    def launch(self, request: LaunchRequest) -> Handle:
        self.launched.append(str(request.attempt_id))
        return super().launch(request)

    def clear(self, cluster: Cluster) -> None:
        for ref in self.launched:
            pod = self.driver._pods.find(cluster, ref)
            if pod is not None:
                self.driver._pods.remove(cluster, pod)
