"""NVIDIA cards through NVML: what there is, and how busy it is. Quiet where there is no driver."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import pynvml

from apps.workloads.drivers.base import DeviceGrant

MIB = 1024 * 1024
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Card:
    """One card. Utilisation in percent, temperature in °C, power in watts; None where the card does not tell."""

    uuid: str
    index: int
    model: str
    memory_mib: int
    memory_used_mib: int
    utilisation_pct: float | None
    temperature_c: int | None
    power_w: float | None
    mig_uuids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GpuSample:
    """Of several cards: mean utilisation, the sum of memory, the hottest one's °C."""

    utilisation_pct: float | None
    memory_mib: int
    temperature_c: int | None = None


def discover() -> list[Card]:
    """All cards of this machine; [] without a driver."""
    return [_card(index, handle) for index, handle in enumerate(_handles())]


def sample(devices: Sequence[DeviceGrant]) -> GpuSample | None:
    """Usage of the granted cards or MIG instances, or None. Of a shared card it is the whole card's usage."""
    granted = {device.uuid for device in devices if device.vendor == "nvidia"}
    if not granted:
        return None
    handles = [handle for handle in _all_units() if _text(pynvml.nvmlDeviceGetUUID(handle)) in granted]
    if not handles:
        return None
    rates = [rate for handle in handles if (rate := _utilisation(handle)) is not None]
    used = sum(int(pynvml.nvmlDeviceGetMemoryInfo(handle).used) for handle in handles)
    degrees = [degree for handle in handles if (degree := _temperature(handle)) is not None]
    return GpuSample(sum(rates) / len(rates) if rates else None, used // MIB, max(degrees, default=None))


def _handles() -> Iterator[Any]:
    try:
        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
    except pynvml.NVMLError:
        return
    for index in range(count):
        with suppress(pynvml.NVMLError):  # a card that fell off the bus must not hide the others
            yield pynvml.nvmlDeviceGetHandleByIndex(index)


def _all_units() -> Iterator[Any]:
    for handle in _handles():
        yield handle
        yield from _mig_instances(handle)


def _mig_instances(handle: Any) -> Iterator[Any]:
    try:
        count = pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)
    except pynvml.NVMLError:
        return
    for index in range(count):
        with suppress(pynvml.NVMLError):
            yield pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)


def _card(index: int, handle: Any) -> Card:
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    return Card(
        uuid=_text(pynvml.nvmlDeviceGetUUID(handle)),
        index=index,
        model=_text(pynvml.nvmlDeviceGetName(handle)),
        memory_mib=int(memory.total) // MIB,
        memory_used_mib=int(memory.used) // MIB,
        utilisation_pct=_utilisation(handle),
        temperature_c=_temperature(handle),
        power_w=_optional(lambda: pynvml.nvmlDeviceGetPowerUsage(handle) / 1000),
        mig_uuids=tuple(_text(pynvml.nvmlDeviceGetUUID(instance)) for instance in _mig_instances(handle)),
    )


def _utilisation(handle: Any) -> float | None:
    return _optional(lambda: float(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu))


def _temperature(handle: Any) -> int | None:
    return _optional(lambda: int(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU)))


def _optional(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except pynvml.NVMLError:
        return None


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
