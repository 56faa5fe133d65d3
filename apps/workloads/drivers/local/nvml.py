"""How busy the granted NVIDIA cards are, through NVML. Quiet where there is no driver.

A whole card and a MIG partition are measured as what they are. On a card with neighbours (vGPU, shared) only the
attempt's own processes count: NVML tells the memory and the share of time of each process.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import pynvml

from apps.clusters.nvidia import memory_of, text
from apps.workloads.drivers.base import DeviceGrant
from apps.workloads.drivers.local import mig

MIB = 1024 * 1024
T = TypeVar("T")
_WITH_NEIGHBOURS = ("vgpu", "shared")


@dataclass(frozen=True, slots=True)
class GpuSample:
    """Of several cards: mean utilisation, the sum of memory, the hottest one's °C, the fullest one's memory.

    Utilisation is in per cent of what was granted. None: not measured.
    """

    utilisation_pct: float | None
    memory_mib: int | None
    temperature_c: int | None = None
    fullest_mib: int | None = None


@dataclass(frozen=True, slots=True)
class _Reading:
    utilisation_pct: float | None
    memory_bytes: int | None
    temperature_c: int | None


def sample(devices: Sequence[DeviceGrant], own: Callable[[], Collection[int]] = tuple) -> GpuSample | None:
    """Usage of the granted cards, partitions or slices, or None. `own`: finds the attempt's processes, if need be."""
    granted = {device.mig_uuid or device.uuid: device for device in devices if device.vendor == "nvidia"}
    if not granted:
        return None
    shared = any(device.mode in _WITH_NEIGHBOURS for device in granted.values())
    processes = own() if shared else ()
    found = [_reading(unit, device, processes) for unit, device in _granted_units(granted)]
    return _together(found) if found else None


def _together(found: list[_Reading]) -> GpuSample:
    rates = [reading.utilisation_pct for reading in found if reading.utilisation_pct is not None]
    memory = [reading.memory_bytes for reading in found if reading.memory_bytes is not None]
    degrees = [reading.temperature_c for reading in found if reading.temperature_c is not None]
    known = len(memory) == len(found)
    return GpuSample(
        utilisation_pct=sum(rates) / len(rates) if rates else None,
        memory_mib=sum(memory) // MIB if known else None,
        temperature_c=max(degrees, default=None),
        fullest_mib=max(memory) // MIB if known else None,
    )


def _reading(unit: Any, device: DeviceGrant, own: Collection[int]) -> _Reading:
    degrees = _optional(lambda: int(pynvml.nvmlDeviceGetTemperature(unit, pynvml.NVML_TEMPERATURE_GPU)))
    if device.mode in _WITH_NEIGHBOURS:
        return _Reading(_own_utilisation(unit, device, own), _own_memory(unit, own), degrees)
    rate = _optional(lambda: float(pynvml.nvmlDeviceGetUtilizationRates(unit).gpu))  # a partition does not tell it
    return _Reading(rate, _optional(lambda: int(memory_of(unit).used)), degrees)


def _own_memory(unit: Any, own: Collection[int]) -> int | None:
    """Bytes of the attempt's own processes; None where the driver does not tell them apart."""
    running = _optional(lambda: pynvml.nvmlDeviceGetComputeRunningProcesses(unit))
    if running is None:
        return None
    mine = [process.usedGpuMemory for process in running if process.pid in own]
    return None if any(used is None for used in mine) else sum(int(used) for used in mine)


def _own_utilisation(unit: Any, device: DeviceGrant, own: Collection[int]) -> float | None:
    """The newest share of time of the attempt's own processes, in per cent of the slice."""
    try:
        samples = pynvml.nvmlDeviceGetProcessUtilization(unit, 0)
    except pynvml.NVMLError as error:  # "not found": nothing has been measured since the driver began to
        return 0.0 if error.value == pynvml.NVML_ERROR_NOT_FOUND else None
    newest = {each.pid: each for each in sorted(samples, key=lambda each: int(each.timeStamp)) if each.pid in own}
    share = sum(float(each.smUtil) for each in newest.values())
    return min(100.0, share * 100 / max(1, device.cores_pct))


def _granted_units(granted: Mapping[str, DeviceGrant]) -> Iterator[tuple[Any, DeviceGrant]]:
    """One that fell off the bus must not hide the others: it may still have a handle, and answer nothing any more."""
    for unit in _all_units():
        with suppress(pynvml.NVMLError):
            uuid = text(pynvml.nvmlDeviceGetUUID(unit))
            if uuid in granted:
                yield unit, granted[uuid]


def _all_units() -> Iterator[Any]:
    """Cards, and the partitions on them."""
    try:
        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
    except pynvml.NVMLError:
        return
    for index in range(count):
        with suppress(pynvml.NVMLError):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            yield handle
            yield from mig.units(handle)


def _optional(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except pynvml.NVMLError:
        return None
