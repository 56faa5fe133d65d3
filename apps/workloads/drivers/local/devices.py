"""What a workload needs to see of its accelerators: environment variables and device nodes, per vendor.

vGPU slices of NVIDIA cards are held to their memory by what the driver found on the machine. HAMi-core: a library
before the program's own, CUDA_DEVICE_MEMORY_LIMIT_<n> and CUDA_DEVICE_SM_LIMIT (its README, "Usage"). MPS:
CUDA_MPS_PINNED_DEVICE_MEM_LIMIT and CUDA_MPS_ACTIVE_THREAD_PERCENTAGE (NVIDIA Multi-Process Service documentation,
"Environment Variables"). Shared cards are given out without any limit.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from apps.clusters.limiters import MPS_PIPES, LimiterName, hami_library
from apps.workloads.drivers.base import DeviceGrant

CACHE = "vgpu.cache"
# A library taken away between the launch and here: the loader then says that it is missing, and how often it matters.
HAMI_MISSING = "/usr/local/vgpu/libvgpu.so"


def environment(devices: Sequence[DeviceGrant], temporary: str = "/tmp") -> dict[str, str]:  # noqa: S108
    """Variables that pin a workload to its grants, or to none at all. They override the workload's own.

    `temporary`: a folder of the workload's own, where a limiter may keep its books.
    """
    variables = {"CUDA_VISIBLE_DEVICES": "", "NVIDIA_VISIBLE_DEVICES": "void", "HIP_VISIBLE_DEVICES": ""}
    variables |= {"ROCR_VISIBLE_DEVICES": "", "ASCEND_RT_VISIBLE_DEVICES": ""}
    for vendor, describe in _ENVIRONMENTS.items():
        granted = [device for device in devices if device.vendor == vendor]
        if granted:
            variables |= describe(granted)
    return variables | _limits([device for device in devices if device.limiter], temporary)


def _nvidia_environment(devices: Sequence[DeviceGrant]) -> dict[str, str]:
    uuids = ",".join(device.mig_uuid or device.uuid for device in devices)
    return {"CUDA_VISIBLE_DEVICES": uuids, "NVIDIA_VISIBLE_DEVICES": uuids, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}


def _limits(devices: Sequence[DeviceGrant], temporary: str) -> dict[str, str]:
    """Both limiters count devices in the order of CUDA_VISIBLE_DEVICES, and know one share of compute for all."""
    if not devices:
        return {}
    share = str(min(device.cores_pct for device in devices))
    if devices[0].limiter == LimiterName.MPS:
        memory = ",".join(f"{order}={device.memory_mib}M" for order, device in enumerate(devices))
        return {
            "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": memory,
            "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": share,
            "CUDA_MPS_PIPE_DIRECTORY": str(MPS_PIPES),
        }
    each = {f"CUDA_DEVICE_MEMORY_LIMIT_{order}": f"{device.memory_mib}m" for order, device in enumerate(devices)}
    return each | {
        "CUDA_DEVICE_SM_LIMIT": share,
        "CUDA_DEVICE_MEMORY_SHARED_CACHE": f"{temporary}/{CACHE}",
        "LD_PRELOAD": str(hami_library() or HAMI_MISSING),
    }


def _amd_environment(devices: Sequence[DeviceGrant]) -> dict[str, str]:
    uuids = ",".join(device.uuid for device in devices)
    # ROCR selects first; HIP then counts what is left from zero.
    return {"ROCR_VISIBLE_DEVICES": uuids, "HIP_VISIBLE_DEVICES": ",".join(str(n) for n in range(len(devices)))}


def _huawei_environment(devices: Sequence[DeviceGrant]) -> dict[str, str]:
    return {"ASCEND_RT_VISIBLE_DEVICES": ",".join(str(device.index) for device in devices)}


def uses_mps(devices: Sequence[DeviceGrant]) -> bool:
    return any(device.limiter == LimiterName.MPS for device in devices)


def uses_hami(devices: Sequence[DeviceGrant]) -> bool:
    return any(device.limiter == LimiterName.HAMI for device in devices)


def nodes(devices: Sequence[DeviceGrant], root: Path = Path("/")) -> list[Path]:
    """Device nodes to pass into the sandbox; only those that exist below `root`."""
    wanted: dict[Path, None] = {}
    for vendor, list_nodes in _NODES.items():
        granted = [device for device in devices if device.vendor == vendor]
        if granted:
            wanted.update(dict.fromkeys(list_nodes(granted, root)))
    return [path for path in wanted if path.exists()]


def _nvidia_nodes(devices: Sequence[DeviceGrant], root: Path) -> list[Path]:
    minors = _nvidia_minors(root)
    cards = [root / f"dev/nvidia{minors.get(device.uuid, device.index)}" for device in devices]
    shared = [root / f"dev/{name}" for name in ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")]
    return cards + shared + [path for device in devices for path in _capabilities(device, minors, root)]


def _capabilities(device: DeviceGrant, minors: Mapping[str, int], root: Path) -> list[Path]:
    """The nodes that open one partition and no other: the GPU instance's and the compute instance's.

    /proc/driver/nvidia/capabilities (NVIDIA MIG User Guide, "Device Nodes and Capabilities").
    """
    if device.gpu_instance is None:
        return []
    gpu = (
        root / f"proc/driver/nvidia/capabilities/gpu{minors.get(device.uuid, device.index)}/mig/gi{device.gpu_instance}"
    )
    numbers = [_minor(gpu / "access"), _minor(gpu / f"ci{device.compute_instance}" / "access")]
    return [root / f"dev/nvidia-caps/nvidia-cap{number}" for number in numbers if number is not None]


def _minor(path: Path) -> int | None:
    """`DeviceFileMinor: 30`."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    found = [line.partition(":")[2].strip() for line in lines if line.startswith("DeviceFileMinor")]
    return int(found[0]) if found and found[0].isdigit() else None


def _nvidia_minors(root: Path) -> dict[str, int]:
    """Card UUID to the number of its node: the order of nodes is not the order in which CUDA counts."""
    minors = {}
    for path in root.glob("proc/driver/nvidia/gpus/*/information"):
        pairs = (line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
        fields = {key.strip(): value.strip() for key, value in pairs}
        if "GPU UUID" in fields and fields.get("Device Minor", "").isdigit():
            minors[fields["GPU UUID"]] = int(fields["Device Minor"])
    return minors


def _amd_nodes(devices: Sequence[DeviceGrant], root: Path) -> list[Path]:
    renderers = sorted((root / "dev/dri").glob("renderD*"))
    granted = [renderers[device.index] for device in devices if device.index < len(renderers)]
    return [root / "dev/kfd", *granted]


def _huawei_nodes(devices: Sequence[DeviceGrant], root: Path) -> list[Path]:
    managers = [root / f"dev/{name}" for name in ("davinci_manager", "devmm_svm", "hisi_hdc")]
    return [*(root / f"dev/davinci{device.index}" for device in devices), *managers]


_ENVIRONMENTS: dict[str, Callable[[Sequence[DeviceGrant]], dict[str, str]]] = {
    "nvidia": _nvidia_environment,
    "amd": _amd_environment,
    "huawei": _huawei_environment,
}
_NODES: dict[str, Callable[[Sequence[DeviceGrant], Path], list[Path]]] = {
    "nvidia": _nvidia_nodes,
    "amd": _amd_nodes,
    "huawei": _huawei_nodes,
}
