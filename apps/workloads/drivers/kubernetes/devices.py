"""The cards of an attempt, as a cluster gives them: by a claim of the very ones, or by their number.

Claims: Kubernetes, "Dynamic Resource Allocation"; the driver's name, its device class and the attribute `uuid` are
NVIDIA's (k8s-dra-driver-gpu). Numbers: the resources of the vendors' device plugins.
"""

from kubernetes import client

from apps.workloads.drivers.base import DeviceGrant, LaunchRequest
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import Cluster

DRIVER = CLASS = "gpu.nvidia.com"
CLAIM = "cards"
RESOURCES = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu", "huawei": "huawei.com/Ascend910"}


def by_claim(cluster: Cluster, request: LaunchRequest) -> list[DeviceGrant]:
    """Those that are claimed one by one."""
    return [each for each in request.devices if cluster.dra and each.vendor == "nvidia"]


def claim(cluster: Cluster, request: LaunchRequest) -> client.ResourceV1ResourceClaim | None:
    """The claim of the cards that the scheduler has chosen."""
    chosen = by_claim(cluster, request)
    if not chosen:
        return None
    asked = [
        client.V1DeviceRequest(
            name=f"card-{number}",
            exactly=client.V1ExactDeviceRequest(
                device_class_name=CLASS,
                selectors=[client.V1DeviceSelector(cel=client.V1CELDeviceSelector(expression=expression(each)))],
            ),
        )
        for number, each in enumerate(chosen)
    ]
    meta = client.V1ObjectMeta(
        name=names.pod(str(request.attempt_id)),
        labels=names.labels(cluster, request.tenant_id) | {names.ATTEMPT: str(request.attempt_id)},
    )
    spec = client.V1ResourceClaimSpec(devices=client.V1DeviceClaim(requests=asked))
    return client.ResourceV1ResourceClaim(
        api_version="resource.k8s.io/v1", kind="ResourceClaim", metadata=meta, spec=spec
    )


def expression(device: DeviceGrant) -> str:
    """In the Common Expression Language; a uuid has nothing in it that would have to be escaped, or is refused."""
    uuid = device.mig_uuid or device.uuid
    if not uuid.replace("-", "").isalnum():
        raise ValueError(uuid)
    return f'device.attributes["{DRIVER}"].uuid == "{uuid}"'


def pod_claims(cluster: Cluster, request: LaunchRequest) -> list[client.V1PodResourceClaim] | None:
    if not by_claim(cluster, request):
        return None
    return [client.V1PodResourceClaim(name=CLAIM, resource_claim_name=names.pod(str(request.attempt_id)))]


def container_claims(cluster: Cluster, request: LaunchRequest) -> list[client.CoreV1ResourceClaim] | None:
    return [client.CoreV1ResourceClaim(name=CLAIM)] if by_claim(cluster, request) else None


def limits(cluster: Cluster, request: LaunchRequest) -> dict[str, str]:
    """Of what device plugins give by number."""
    claimed = by_claim(cluster, request)
    found: dict[str, int] = {}
    for device in request.devices:
        if device not in claimed:
            resource = f"nvidia.com/mig-{device.profile}" if device.profile else RESOURCES[device.vendor]
            found[resource] = found.get(resource, 0) + 1
    return {name: str(number) for name, number in found.items()}
