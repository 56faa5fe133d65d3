"""The local driver's hand on cards: partitions and limits for an attempt before it starts, figures while it runs."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from apps.clusters.limiters import HAMI_LOCK, LimiterName, effective_limiter, installed_limiters
from apps.workloads.drivers.base import DeviceGrant, IsolationLevel, LaunchRefused, LaunchRequest, Observation, Phase
from apps.workloads.drivers.local import modes, nvml, processes
from apps.workloads.drivers.local.metrics import append_gpu
from apps.workloads.drivers.local.partitions import Partitions
from apps.workloads.drivers.local.records import MARKER, RunDirectory, decode_spec
from apps.workloads.drivers.said import Code, Said

GpuSampler = Callable[[Sequence[DeviceGrant], Callable[[], Collection[int]]], nvml.GpuSample | None]


class Cards:
    """`home`: where claims on partitions are kept. `is_over`: whether an attempt has been proved to have ended."""

    def __init__(self, home: Path, is_over: Callable[[str], bool], sample: GpuSampler = nvml.sample) -> None:
        self._partitions = Partitions(home / "partitions", is_over)
        self._sample = sample

    def granted(self, request: LaunchRequest, level: IsolationLevel) -> LaunchRequest:
        """The request with what its cards need to be really as granted. May be repeated; raises as a launch does."""
        devices = tuple(self._granted(request, device, level) for device in request.devices)
        return replace(request, devices=devices)

    def _granted(self, request: LaunchRequest, device: DeviceGrant, level: IsolationLevel) -> DeviceGrant:
        if device.vendor != "nvidia":
            return device
        if device.mode == "vgpu":
            return replace(device, limiter=_limiter(level))
        if device.mode != "mig" or not device.profile or device.slot is None:
            return device
        made = self._partitions.ensure(str(request.attempt_id), device.uuid, device.profile, device.slot)
        return replace(
            device, mig_uuid=made.uuid, gpu_instance=made.gpu_instance, compute_instance=made.compute_instance
        )

    def set_mode(self, uuid: str, mode: str) -> None:
        if mode != modes.MIG:
            self._partitions.clear(uuid)
        modes.set_mode(uuid, mode)

    def release(self, ref: str) -> None:
        """Take away what was made for an attempt that has ended."""
        self._partitions.release(ref)

    def sweep(self) -> int:
        """Take away what ended attempts have left; how many partitions are still claimed."""
        return self._partitions.sweep()

    def watched(self, run: RunDirectory, seen: Observation) -> Observation:
        """With the cards' figures: NVML is no part of the standard library, so the shim leaves it to whoever looks."""
        if seen.phase is not Phase.RUNNING or seen.usage is None:
            return seen
        devices = decode_spec(run.spec.read_bytes()).request.devices
        gpu = self._sample(devices, lambda: frozenset(processes.marked(MARKER, run.path.name))) if devices else None
        if gpu is None:
            return seen
        usage = replace(
            seen.usage,
            gpu_util_pct=gpu.utilisation_pct,
            gpu_memory_mib=gpu.memory_mib,
            gpu_temperature_c=gpu.temperature_c,
            gpu_fullest_mib=gpu.fullest_mib,
        )
        append_gpu(run, usage)
        return replace(seen, usage=usage)


def _limiter(level: IsolationLevel) -> str:
    """What will hold the slice to its memory. Without anything it would be given away as if it were limited."""
    found = effective_limiter(installed_limiters(), level.value)
    if found is None:
        raise LaunchRefused("no_limiter", Said(Code.NO_LIMITER))
    if found is LimiterName.HAMI and level is IsolationLevel.L0 and not HAMI_LOCK.is_dir():
        HAMI_LOCK.mkdir()
        HAMI_LOCK.chmod(0o1777)
    return found.value
