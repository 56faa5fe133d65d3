"""The partitions of one card: found, made and taken away through NVML ("Multi Instance GPU Management").

A partition is a GPU instance (memory slices, at a place of its own) with one compute instance over all of it. Its place
is what it is known by: ids and uuids are given out anew after each restart of the machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import byref, c_uint
from dataclasses import dataclass
from typing import Any

import pynvml

from apps.clusters import nvidia
from apps.workloads.drivers.base import DriverError, LaunchRefused
from apps.workloads.drivers.said import Code, Said

_SAID = {
    pynvml.NVML_ERROR_NO_PERMISSION: Said(Code.MAY_NOT_CUT),
    pynvml.NVML_ERROR_IN_USE: Said(Code.PARTITION_IN_USE),
    pynvml.NVML_ERROR_INSUFFICIENT_RESOURCES: Said(Code.NO_ROOM_FOR_PARTITION),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A profile at a memory slice of a card, and what the driver calls it there."""

    profile: str
    start: int
    size: int
    profile_id: int
    compute_slices: int

    def overlaps(self, start: int, size: int) -> bool:
        return self.start < start + size and start < self.start + self.size


@dataclass(frozen=True, slots=True)
class Instance:
    """A GPU instance as it lies on a card; `handle` is the library's."""

    handle: Any
    id: int
    profile_id: int
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Partition:
    """What a program is pointed at: `MIG-…`, and the numbers of its GPU and compute instance."""

    uuid: str
    gpu_instance: int
    compute_instance: int


@contextmanager
def library() -> Iterator[None]:
    """What NVML refuses becomes the contract's own error, in words."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise DriverError(Said(Code.NVIDIA_DRIVER_SILENT)) from error
    try:
        yield
    except pynvml.NVMLError as error:
        raise DriverError(_SAID.get(error.value) or Said(Code.NVML, {"error": str(error)})) from error
    finally:
        pynvml.nvmlShutdown()


def card(uuid: str) -> Any:
    return pynvml.nvmlDeviceGetHandleByUUID(uuid.encode())


def place_of(handle: Any, profile: str, start: int) -> Place:
    """Raises LaunchRefused for a profile, or a place, that this card does not offer."""
    memory = int(pynvml.nvmlDeviceGetMemoryInfo(handle).total)
    for number in range(pynvml.NVML_GPU_INSTANCE_PROFILE_COUNT):
        info = nvidia.profile_info(handle, number)
        if info is None or nvidia.profile_name(info, number, memory) != profile:
            continue
        sizes = dict(nvidia.placements(handle, int(info.id)))
        if start in sizes:
            return Place(profile, start, sizes[start], int(info.id), int(info.sliceCount))
    raise LaunchRefused("no_such_partition", Said(Code.NO_SUCH_PARTITION, {"profile": profile, "start": start}))


def instances(handle: Any) -> list[Instance]:
    """Every GPU instance of the card, by its place."""
    found: list[Instance] = []
    for number in range(pynvml.NVML_GPU_INSTANCE_PROFILE_COUNT):
        info = nvidia.profile_info(handle, number)
        if info is not None:
            found += _of_profile(handle, int(info.id), int(info.instanceCount))
    return sorted(found, key=lambda instance: instance.start)


def _of_profile(handle: Any, profile_id: int, most: int) -> list[Instance]:
    array, count = (pynvml.c_nvmlGpuInstance_t * max(1, most))(), c_uint(0)
    pynvml.nvmlDeviceGetGpuInstances(handle, profile_id, array, byref(count))
    return [_instance(array[index]) for index in range(count.value)]


def _instance(handle: Any) -> Instance:
    info = pynvml.nvmlGpuInstanceGetInfo(handle)
    return Instance(handle, int(info.id), int(info.profileId), int(info.placement.start), int(info.placement.size))


def create(handle: Any, place: Place) -> Instance:
    """A GPU instance at exactly this place."""
    wanted = pynvml.c_nvmlGpuInstancePlacement_t(place.start, place.size)
    return _instance(pynvml.nvmlDeviceCreateGpuInstanceWithPlacement(handle, place.profile_id, byref(wanted)))


def complete(handle: Any, instance: Instance, compute_slices: int) -> Partition:
    """The instance's partition; its compute instance is made where it is missing."""
    profile_id = _whole_profile(instance.handle, compute_slices)
    if not _compute(instance.handle, profile_id):
        pynvml.nvmlGpuInstanceCreateComputeInstance(instance.handle, profile_id)
    for unit in units(handle):
        if pynvml.nvmlDeviceGetGpuInstanceId(unit) == instance.id:
            uuid = nvidia.text(pynvml.nvmlDeviceGetUUID(unit))
            return Partition(uuid, instance.id, int(pynvml.nvmlDeviceGetComputeInstanceId(unit)))
    raise DriverError(Said(Code.PARTITION_NOT_SHOWN))


def destroy(instance: Instance) -> None:
    """Its compute instances first. Raises NVMLError (in use) while a process is in it."""
    for number in range(pynvml.NVML_COMPUTE_INSTANCE_PROFILE_COUNT):
        info = _compute_profile(instance.handle, number)
        for compute in _compute(instance.handle, int(info.id)) if info is not None else ():
            pynvml.nvmlComputeInstanceDestroy(compute)
    pynvml.nvmlGpuInstanceDestroy(instance.handle)


def units(handle: Any) -> Iterator[Any]:
    """The card's MIG devices: what CUDA sees of it."""
    try:
        most = pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)
    except pynvml.NVMLError:
        return
    for index in range(most):
        with suppress(pynvml.NVMLError):  # numbers have gaps
            yield pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)


def _whole_profile(instance: Any, slices: int) -> int:
    """The compute profile that takes all of the instance's slices."""
    for number in range(pynvml.NVML_COMPUTE_INSTANCE_PROFILE_COUNT):
        info = _compute_profile(instance, number)
        if info is not None and int(info.sliceCount) == slices:
            return int(info.id)
    raise DriverError(Said(Code.NO_COMPUTE_INSTANCE, {"slices": slices}))


def _compute_profile(instance: Any, number: int) -> Any | None:
    engines = pynvml.NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED
    try:
        return pynvml.nvmlGpuInstanceGetComputeInstanceProfileInfo(instance, number, engines, 1)
    except pynvml.NVMLError as error:
        if error.value in (pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_INVALID_ARGUMENT):
            return None
        raise


def _compute(instance: Any, profile_id: int) -> list[Any]:
    """The compute instances of one profile."""
    array, count = (pynvml.c_nvmlComputeInstance_t * 8)(), c_uint(0)
    pynvml.nvmlGpuInstanceGetComputeInstances(instance, profile_id, array, byref(count))
    return [array[index] for index in range(count.value)]
