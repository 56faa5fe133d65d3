"""What this machine has: CPU, memory, disk through psutil; cards through NVML, quiet where there is no driver."""

import os
import platform
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pynvml

MIB = 1024 * 1024
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Card:
    """One accelerator: MiB, per cent, °C, watts. What the driver does not tell is None."""

    uuid: str
    index: int
    vendor: str
    model: str
    memory_mib: int
    mig: bool = False
    utilisation_pct: float | None = None
    memory_used_mib: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """Capacity in milli-cores and MiB, and the load at this moment in per cent."""

    name: str
    arch: str
    cpu_milli: int
    memory_mib: int
    memory_used_mib: int
    disk_mib: int
    disk_free_mib: int
    cpu_pct: float
    facts: dict[str, str] = field(default_factory=dict)
    cards: tuple[Card, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Machine":
        """What another machine measured of itself. Raises TypeError or ValueError for what is no measurement."""
        fields = dict(data)
        cards = tuple(Card(**card) for card in fields.pop("cards", ()))
        found = cls(**fields, cards=cards)
        amounts = (found.cpu_milli, found.memory_mib, found.disk_mib, found.disk_free_mib, found.memory_used_mib)
        if not all(isinstance(amount, int) and 0 <= amount < 2**31 for amount in amounts):
            raise ValueError("An amount makes no sense")
        return found


def look(folder: Path) -> Machine:
    """Measure this machine; `folder` names the disk that holds people's files."""
    memory, disk = psutil.virtual_memory(), psutil.disk_usage(str(folder))
    return Machine(
        name=socket.gethostname()[:80] or "localhost",
        arch=platform.machine(),
        cpu_milli=_usable_cores() * 1000,
        memory_mib=memory.total // MIB,
        memory_used_mib=(memory.total - memory.available) // MIB,
        disk_mib=disk.total // MIB,
        disk_free_mib=disk.free // MIB,
        cpu_pct=psutil.cpu_percent(interval=0.2),
        facts={"os": platform.platform(terse=True), "cpu": _cpu_model(), "python": platform.python_version()},
        cards=tuple(_cards()),
    )


def _usable_cores() -> int:
    """Cores this process may run on: a container or a taskset may have fewer than the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return platform.processor()
    named = (line.partition(":")[2].strip() for line in lines if line.lower().startswith("model name"))
    return next(named, platform.processor())


def _cards() -> Iterator[Card]:
    """NVIDIA cards as NVML reports them. No library, no driver, no card: nothing, without a word."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return
    try:
        for index in range(pynvml.nvmlDeviceGetCount()):
            yield _card(index)
    finally:
        pynvml.nvmlShutdown()


def _card(index: int) -> Card:
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    return Card(
        uuid=_text(pynvml.nvmlDeviceGetUUID(handle)),
        index=index,
        vendor="nvidia",
        model=_text(pynvml.nvmlDeviceGetName(handle)).removeprefix("NVIDIA "),
        memory_mib=int(memory.total) // MIB,
        mig=_mig_enabled(handle),
        utilisation_pct=_utilisation(handle),
        memory_used_mib=int(memory.used) // MIB,
        temperature_c=_optional(lambda: int(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))),
        power_w=_optional(lambda: float(pynvml.nvmlDeviceGetPowerUsage(handle)) / 1000),
    )


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _mig_enabled(handle: object) -> bool:
    try:
        current, _pending = pynvml.nvmlDeviceGetMigMode(handle)
    except pynvml.NVMLError:  # the card knows no MIG
        return False
    return bool(current == pynvml.NVML_DEVICE_MIG_ENABLE)


def _utilisation(handle: object) -> float | None:
    return _optional(lambda: float(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu))


def _optional(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except pynvml.NVMLError:
        return None
