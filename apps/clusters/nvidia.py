"""NVIDIA cards as NVML reports them, with the partitions that their driver offers. Silent if there is no driver.

A card that cannot be read, because it fell off the bus for example, is named in the report and hides no other.

NVML API Reference, "Multi Instance GPU Management". The driver of the card itself reports which profiles exist and
where each may be placed, whether MIG is switched on or not; the scheduler's own table serves cards that were not
queried.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from ctypes import byref, c_uint
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pynvml

from apps.clusters import nvidia_links
from apps.clusters.cards import Card, MigCut, Trouble, UnreadCard

MIB, GIB = 1024 * 1024, 1024**3
T = TypeVar("T")
# What a profile has beyond its slices, as nvidia-smi writes it behind the name.
_ATTRIBUTES = {
    pynvml.NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1: "+me",
    pynvml.NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1: "+me",
    pynvml.NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX: "+gfx",
    pynvml.NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX: "+gfx",
    pynvml.NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX: "+gfx",
    pynvml.NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME: "-me",
    pynvml.NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME: "-me",
    pynvml.NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME: "+me.all",
    pynvml.NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME: "+me.all",
}


# What these make of a card is said of it; a figure that is missing for another reason is only missing.
_GONE = frozenset({pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED})
_ERRORS = {
    value: name.removeprefix("NVML_ERROR_") for name, value in vars(pynvml).items() if name.startswith("NVML_ERROR_")
}
# What the driver wants done with a card (drivers since R570 tell); the other actions leave it usable.
_RECOVERY = {
    pynvml.NVML_GPU_RECOVERY_ACTION_GPU_RESET: Trouble.RESET,
    pynvml.NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET: Trouble.RESET,
    pynvml.NVML_GPU_RECOVERY_ACTION_BUS_RESET: Trouble.RESET,
    pynvml.NVML_GPU_RECOVERY_ACTION_NODE_REBOOT: Trouble.RESTART,
    pynvml.NVML_GPU_RECOVERY_ACTION_SYSTEM_REBOOT: Trouble.RESTART,
}


@dataclass(frozen=True, slots=True)
class NvidiaReport:
    """`unread`: cards that are listed and cannot be read. `error`: NVML's name for why the library fails altogether.

    All are empty on a machine without the library.
    """

    cards: tuple[Card, ...] = ()
    unread: tuple[UnreadCard, ...] = ()
    error: str = ""

    @property
    def has_library(self) -> bool:
        return bool(self.cards or self.unread or self.error)

    @property
    def trouble(self) -> str:
        """What failed, in one line of the driver's own names; "" for nothing."""
        return self.error or "; ".join(f"{card.index}: {card.error}" for card in self.unread)


def cards() -> Iterator[Card]:
    """The cards that can be read; none, silently, without library, driver or card."""
    yield from read_nvidia_cards().cards


def read_nvidia_cards() -> NvidiaReport:
    """This machine's cards. Raises nothing of NVML's: what fails is told in the report."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        is_missing = error.value == pynvml.NVML_ERROR_LIBRARY_NOT_FOUND
        return NvidiaReport(error="" if is_missing else error_name(error))
    try:
        return _report()
    except pynvml.NVMLError as error:
        return NvidiaReport(error=error_name(error))
    finally:
        with suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def _report() -> NvidiaReport:
    found: list[tuple[Any, Card]] = []
    unread: list[UnreadCard] = []
    for index in range(pynvml.nvmlDeviceGetCount()):
        uuid = ""
        try:
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            uuid = text(pynvml.nvmlDeviceGetUUID(handle))
            found.append((handle, _card(index, handle, uuid)))
        except pynvml.NVMLError as error:
            unread.append(UnreadCard(index, uuid, error_name(error)))
    links = nvidia_links.links([(handle, card.uuid, card.pci) for handle, card in found])
    return NvidiaReport(tuple(replace(card, links=links[card.uuid]) for _handle, card in found), tuple(unread))


def error_name(error: Any) -> str:
    """As NVML's header calls it, without its prefix: GPU_IS_LOST."""
    known: str | None = _ERRORS.get(error.value)
    return known or f"ERROR_{error.value}"


def driver_versions() -> dict[str, str]:
    """`nvidia-driver`, and `cuda`: the newest CUDA that it serves; empty without library or driver."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return {}
    try:
        found = {"nvidia-driver": text(pynvml.nvmlSystemGetDriverVersion())}
        cuda = _optional(pynvml.nvmlSystemGetCudaDriverVersion_v2)
        return found if cuda is None else {**found, "cuda": f"{cuda // 1000}.{cuda % 1000 // 10}"}
    except pynvml.NVMLError:
        return {}
    finally:
        with suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()


def _card(index: int, handle: Any, uuid: str) -> Card:
    memory, trouble = memory_of(handle), _wanted_recovery(handle)
    return Card(
        uuid=uuid,
        index=index,
        vendor="nvidia",
        model=text(pynvml.nvmlDeviceGetName(handle)).removeprefix("NVIDIA "),
        memory_mib=int(memory.total) // MIB,
        mig=mig_enabled(handle),
        utilisation_pct=_optional(lambda: float(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)),
        memory_used_mib=int(memory.used) // MIB,
        temperature_c=_optional(lambda: int(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))),
        power_w=_optional(lambda: float(pynvml.nvmlDeviceGetPowerUsage(handle)) / 1000),
        mig_cuts=cuts_of(handle, int(memory.total)),
        pci=nvidia_links.pci_address(handle),
        healthy=not trouble,
        trouble=trouble,
    )


def memory_of(handle: Any) -> Any:
    """`total` and `used` in bytes, as nvidia-smi shows them: `used` without what the driver reserves for itself.

    The call's first version counts that among `used`; a driver older than 510 has no other.
    """
    try:
        return pynvml.nvmlDeviceGetMemoryInfo(handle, pynvml.nvmlMemory_v2)
    except (pynvml.NVMLError_FunctionNotFound, pynvml.NVMLError_NotSupported, pynvml.NVMLError_InvalidArgument):
        return pynvml.nvmlDeviceGetMemoryInfo(handle)


def _wanted_recovery(handle: Any) -> str:
    """What its driver wants done before the card works again; "" for nothing, and from drivers that do not tell."""
    values = _optional(lambda: pynvml.nvmlDeviceGetFieldValues(handle, [pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION]))
    if values is None or values[0].nvmlReturn != pynvml.NVML_SUCCESS:
        return ""
    return _RECOVERY.get(int(values[0].value.uiVal), "")


def text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def mig_enabled(handle: Any) -> bool:
    try:
        current, _pending = pynvml.nvmlDeviceGetMigMode(handle)
    except pynvml.NVMLError as error:  # the card knows no MIG
        if error.value in _GONE:
            raise
        return False
    return bool(current == pynvml.NVML_DEVICE_MIG_ENABLE)


def cuts_of(handle: Any, memory_bytes: int) -> tuple[MigCut, ...] | None:
    """The card's profiles with their placements; () for a card without MIG, None if the driver does not report them.

    Raises NVMLError for a card that is gone.
    """
    try:
        pynvml.nvmlDeviceGetMigMode(handle)
    except pynvml.NVMLError as error:
        if error.value in _GONE:
            raise
        return () if error.value == pynvml.NVML_ERROR_NOT_SUPPORTED else None
    # Asking for the places takes privileges that this process may not have.
    numbers = range(pynvml.NVML_GPU_INSTANCE_PROFILE_COUNT)
    found = _optional(lambda: [_cut(handle, number, memory_bytes) for number in numbers])
    return None if found is None else tuple(cut for cut in found if cut is not None and cut.starts)


def _cut(handle: Any, number: int, memory_bytes: int) -> MigCut | None:
    info = profile_info(handle, number)
    if info is None:
        return None
    places = placements(handle, int(info.id))
    return MigCut(
        name=profile_name(info, number, memory_bytes),
        starts=tuple(sorted(start for start, _size in places)),
        size=places[0][1] if places else 0,
        compute=int(info.sliceCount),
        memory_mib=int(info.memorySizeMB),
        maximum=int(info.instanceCount),
    )


def profile_info(handle: Any, number: int) -> Any | None:
    """The driver's description of one profile; None for a number that this card does not know."""
    for version in (2, 1):
        try:
            return pynvml.nvmlDeviceGetGpuInstanceProfileInfo(handle, number, version)
        except pynvml.NVMLError as error:
            if error.value in (pynvml.NVML_ERROR_NOT_SUPPORTED, pynvml.NVML_ERROR_INVALID_ARGUMENT):
                return None
            if error.value != pynvml.NVML_ERROR_FUNCTION_NOT_FOUND:  # an older driver: ask in the older way
                raise
    return None


def placements(handle: Any, profile_id: int) -> list[tuple[int, int]]:
    """(start, size) in memory slices of every place that the profile may take on an empty card."""
    count = c_uint(0)
    pynvml.nvmlDeviceGetGpuInstancePossiblePlacements(handle, profile_id, None, byref(count))
    array = (pynvml.c_nvmlGpuInstancePlacement_t * count.value)()
    pynvml.nvmlDeviceGetGpuInstancePossiblePlacements(handle, profile_id, array, byref(count))
    return [(int(place.start), int(place.size)) for place in array[: count.value]]


def profile_name(info: Any, number: int, memory_bytes: int) -> str:
    """`3g.40gb`, as nvidia-smi names it: the driver's name if it has one, else composed by its rule.

    The rule (NVIDIA's go-nvlib): the profile's share of the card's memory, rounded up to an eighth, in whole GiB.
    """
    told = text(getattr(info, "name", "") or "").removeprefix("MIG ").strip()
    if told:
        return told
    eighths = math.ceil(int(info.memorySizeMB) * MIB / memory_bytes * 8)
    gigabytes = round(eighths / 8 * math.ceil(memory_bytes / GIB))
    return f"{info.sliceCount}g.{gigabytes}gb{_ATTRIBUTES.get(number, '')}"


def _optional(read: Callable[[], T]) -> T | None:
    """None for what the card does not tell. Raises for a card that is gone."""
    try:
        return read()
    except pynvml.NVMLError as error:
        if error.value in _GONE:
            raise
        return None
