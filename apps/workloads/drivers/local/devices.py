"""What a workload needs to see of its accelerators: environment variables and device nodes, per vendor.

NVIDIA shares: CUDA_MPS_PINNED_DEVICE_MEM_LIMIT and CUDA_MPS_ACTIVE_THREAD_PERCENTAGE (NVIDIA Multi-Process Service
documentation, "Environment variables"); without a running MPS daemon they have no effect.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from apps.workloads.drivers.base import DeviceGrant

MPS_PIPES = Path("/tmp/nvidia-mps")  # noqa: S108 - the daemon's own fixed place
_UNSHARED_MODES = ("whole", "exclusive", "mig")


def environment(devices: Sequence[DeviceGrant]) -> dict[str, str]:
    """Variables that pin a workload to its grants, or to none at all. They override the workload's own."""
    variables = {"CUDA_VISIBLE_DEVICES": "", "NVIDIA_VISIBLE_DEVICES": "void", "HIP_VISIBLE_DEVICES": ""}
    variables |= {"ROCR_VISIBLE_DEVICES": "", "ASCEND_RT_VISIBLE_DEVICES": ""}
    for vendor, describe in _ENVIRONMENTS.items():
        granted = [device for device in devices if device.vendor == vendor]
        if granted:
            variables |= describe(granted)
    return variables


def _nvidia_environment(devices: Sequence[DeviceGrant]) -> dict[str, str]:
    uuids = ",".join(device.uuid for device in devices)
    variables = {"CUDA_VISIBLE_DEVICES": uuids, "NVIDIA_VISIBLE_DEVICES": uuids, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    if is_shared(devices):
        # MPS counts devices in the order of CUDA_VISIBLE_DEVICES.
        limits = (f"{order}={device.memory_mib}M" for order, device in enumerate(devices))
        variables["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] = ",".join(limits)
        variables["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] = str(min(device.cores_pct for device in devices))
        variables["CUDA_MPS_PIPE_DIRECTORY"] = str(MPS_PIPES)
    return variables


def _amd_environment(devices: Sequence[DeviceGrant]) -> dict[str, str]:
    uuids = ",".join(device.uuid for device in devices)
    # ROCR selects first; HIP then counts what is left from zero.
    return {"ROCR_VISIBLE_DEVICES": uuids, "HIP_VISIBLE_DEVICES": ",".join(str(n) for n in range(len(devices)))}


def _huawei_environment(devices: Sequence[DeviceGrant]) -> dict[str, str]:
    return {"ASCEND_RT_VISIBLE_DEVICES": ",".join(str(device.index) for device in devices)}


def is_shared(devices: Sequence[DeviceGrant]) -> bool:
    return any(device.vendor == "nvidia" and device.mode not in _UNSHARED_MODES for device in devices)


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
    partitions = [root / "dev/nvidia-caps"] if any(device.mode == "mig" for device in devices) else []
    return cards + shared + partitions


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
