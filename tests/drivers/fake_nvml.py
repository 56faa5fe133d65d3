"""A card as NVIDIA's library shows it: the real module's structures, names and errors, over state in this process.

`install` puts it in place of the functions of `pynvml`; the structures, constants and exceptions stay the module's own.
What is allowed follows the NVML API Reference: places overlap never, an instance with processes or compute instances
is not destroyed, a card with instances does not leave MIG.
"""

from ctypes import c_void_p, cast
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pynvml
import pytest

from tests.drivers.fake_links import FakeLinks

MIB = 1024 * 1024
RESERVED_MIB = 480
OK = 0  # NVML_SUCCESS
# number → (slices, memory in MiB, how many at once, places as (start, size)); as an H100 80GB tells them.
H100 = {
    pynvml.NVML_GPU_INSTANCE_PROFILE_1_SLICE: (1, 9728, 7, [(n, 1) for n in range(7)]),
    pynvml.NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1: (1, 9728, 1, [(n, 1) for n in range(7)]),
    pynvml.NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV2: (1, 19968, 4, [(0, 2), (2, 2), (4, 2), (6, 2)]),
    pynvml.NVML_GPU_INSTANCE_PROFILE_2_SLICE: (2, 19968, 3, [(0, 2), (2, 2), (4, 2)]),
    pynvml.NVML_GPU_INSTANCE_PROFILE_3_SLICE: (3, 40448, 2, [(0, 4), (4, 4)]),
    pynvml.NVML_GPU_INSTANCE_PROFILE_4_SLICE: (4, 40448, 1, [(0, 4)]),
    pynvml.NVML_GPU_INSTANCE_PROFILE_7_SLICE: (7, 80896, 1, [(0, 8)]),
}
# What the driver numbers its profiles by is not the number one asks with: 1g.10gb is 19 on this card.
IDS = dict(zip(H100, (19, 20, 15, 14, 9, 5, 0), strict=True))


class Died(Exception):
    """The process was killed in the middle of a call."""


@dataclass
class Compute:
    id: int
    uuid: str
    processes: int = 0


@dataclass
class Instance:
    id: int
    number: int
    start: int
    size: int
    compute: list[Compute] = field(default_factory=list)


@dataclass
class FakeCard:
    """`names`: whether the driver is new enough to name its profiles. `privileged`: whether we run as root."""

    uuid: str = "GPU-0"
    name: str = "NVIDIA H100 80GB HBM3"
    memory: int = 81559 * MIB
    profiles: dict[int, tuple[int, int, int, list[tuple[int, int]]]] = field(default_factory=lambda: dict(H100))
    mig: int = pynvml.NVML_DEVICE_MIG_DISABLE
    pending: int | None = None
    names: bool = True
    privileged: bool = True
    needs_reset: bool = False
    instances: list[Instance] = field(default_factory=list)
    created: int = 0
    processes: list[Any] = field(default_factory=list)
    die_after: str = ""
    pci: str = "00000000:18:00.0"
    # By number, whether a link is up, and the PCI address at its other end, or "" for a switch.
    nvlinks: list[tuple[bool, str]] = field(default_factory=list)
    # What NVML_TOPOLOGY_* level it shares with the card of a uuid.
    levels: dict[str, int] = field(default_factory=dict)


class FakeNvml(FakeLinks):
    """The functions, by the names they have in `pynvml`. Instances travel as the library's opaque pointers."""

    def __init__(self, *cards: FakeCard) -> None:
        self.cards = list(cards)
        self.is_old = False
        self._behind: dict[int, Any] = {}

    def _pointer(self, thing: Any, kind: Any) -> Any:
        self._behind[id(thing)] = thing
        return cast(c_void_p(id(thing)), kind)

    def _thing(self, pointer: Any) -> Any:
        return self._behind[cast(pointer, c_void_p).value or 0]

    def nvmlInit(self) -> None: ...

    def nvmlShutdown(self) -> None: ...

    def nvmlDeviceGetCount(self) -> int:
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeCard:
        return self.cards[index]

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes) -> FakeCard:
        for card in self.cards:
            if card.uuid == uuid.decode():
                return card
        raise _error(pynvml.NVML_ERROR_NOT_FOUND)

    def nvmlDeviceGetUUID(self, handle: FakeCard | Compute) -> str:
        return handle.uuid

    def nvmlDeviceGetName(self, card: FakeCard) -> str:
        return card.name

    def nvmlDeviceGetMemoryInfo(self, handle: FakeCard | Compute, version: int | None = None) -> Any:
        """The first version counts what is reserved as used."""
        if version and self.is_old:
            raise _error(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
        if isinstance(handle, Compute):
            return SimpleNamespace(total=9728 * MIB, used=1234 * MIB)
        return SimpleNamespace(total=handle.memory, used=(600 if version else 600 + RESERVED_MIB) * MIB)

    def nvmlDeviceGetUtilizationRates(self, handle: FakeCard | Compute) -> Any:
        if isinstance(handle, Compute):
            raise _error(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return SimpleNamespace(gpu=31, memory=9)

    def nvmlDeviceGetTemperature(self, handle: FakeCard | Compute, sensor: int) -> int:
        return 44

    def nvmlDeviceGetPowerUsage(self, card: FakeCard) -> int:
        return 120_000

    def nvmlDeviceGetMigMode(self, card: FakeCard) -> list[int]:
        if not card.profiles:
            raise _error(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return [card.mig, card.mig if card.pending is None else card.pending]

    def nvmlDeviceSetMigMode(self, card: FakeCard, mode: int) -> int:
        if card.instances:
            raise _error(pynvml.NVML_ERROR_IN_USE)
        card.pending = mode
        if not card.needs_reset:
            card.mig = mode
        return OK

    def nvmlDeviceGetGpuInstanceProfileInfo(self, card: FakeCard, number: int, version: int = 2) -> Any:
        if version == 2 and not card.names:
            raise _error(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
        if number not in card.profiles:
            raise _error(pynvml.NVML_ERROR_NOT_SUPPORTED)
        slices, memory, most, _places = card.profiles[number]
        info = pynvml.c_nvmlGpuInstanceProfileInfo_v2_t() if version == 2 else pynvml.c_nvmlGpuInstanceProfileInfo_t()
        info.id, info.sliceCount, info.instanceCount, info.memorySizeMB = IDS[number], slices, most, memory
        if version == 2:
            extra = "+me" if number == pynvml.NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1 else ""
            info.name = f"MIG {slices}g.{-(-memory * 8 // 81_559) * 10}gb{extra}".encode()
        return info

    def nvmlDeviceGetGpuInstancePossiblePlacements(self, card: FakeCard, profile: int, array: Any, count: Any) -> int:
        if not card.privileged:
            raise _error(pynvml.NVML_ERROR_NO_PERMISSION)
        places = card.profiles[_number(profile)][3]
        count._obj.value = len(places)
        for index, (start, size) in enumerate(places if array is not None else ()):
            array[index].start, array[index].size = start, size
        return OK

    def nvmlDeviceCreateGpuInstanceWithPlacement(self, card: FakeCard, profile: int, placement: Any) -> Any:
        place = placement._obj
        taken = {slice_ for each in card.instances for slice_ in range(each.start, each.start + each.size)}
        if card.mig != pynvml.NVML_DEVICE_MIG_ENABLE:
            raise _error(pynvml.NVML_ERROR_NOT_SUPPORTED)
        if taken & set(range(place.start, place.start + place.size)):
            raise _error(pynvml.NVML_ERROR_INSUFFICIENT_RESOURCES)
        used = {each.id for each in card.instances}
        made = Instance(
            min(set(range(1, 15)) - used), _number(profile), int(place.start), int(place.size)
        )  # ids are used again
        card.instances.append(made)
        card.created += 1
        _maybe_die(card, "gpu instance")
        return self._pointer(made, pynvml.c_nvmlGpuInstance_t)

    def nvmlDeviceGetGpuInstances(self, card: FakeCard, profile: int, array: Any, count: Any) -> int:
        found = [each for each in card.instances if IDS[each.number] == profile]
        for index, each in enumerate(found):
            array[index] = self._pointer(each, pynvml.c_nvmlGpuInstance_t)
        count._obj.value = len(found)
        return OK

    def nvmlGpuInstanceGetInfo(self, pointer: Any) -> Any:
        instance: Instance = self._thing(pointer)
        info = pynvml.c_nvmlGpuInstanceInfo_t()
        info.id, info.profileId = instance.id, IDS[instance.number]
        info.placement.start, info.placement.size = instance.start, instance.size
        return info

    def nvmlGpuInstanceDestroy(self, pointer: Any) -> int:
        instance: Instance = self._thing(pointer)
        card = next(card for card in self.cards if instance in card.instances)
        if instance.compute:
            raise _error(pynvml.NVML_ERROR_IN_USE)
        card.instances.remove(instance)
        return OK

    def nvmlGpuInstanceGetComputeInstanceProfileInfo(
        self, pointer: Any, number: int, engine: int, version: int = 2
    ) -> Any:
        if _slices_of(number) > H100[self._thing(pointer).number][0]:
            raise _error(pynvml.NVML_ERROR_NOT_SUPPORTED)
        info = pynvml.c_nvmlComputeInstanceProfileInfo_t()
        info.id, info.sliceCount = number, _slices_of(number)
        return info

    def nvmlGpuInstanceCreateComputeInstance(self, pointer: Any, profile: int) -> Any:
        instance: Instance = self._thing(pointer)
        if instance.compute:
            raise _error(pynvml.NVML_ERROR_INSUFFICIENT_RESOURCES)
        made = Compute(0, f"MIG-{uuid4()}")
        instance.compute.append(made)
        _maybe_die(next(card for card in self.cards if instance in card.instances), "compute instance")
        return self._pointer(made, pynvml.c_nvmlComputeInstance_t)

    def nvmlGpuInstanceGetComputeInstances(self, pointer: Any, profile: int, array: Any, count: Any) -> int:
        instance: Instance = self._thing(pointer)
        found = instance.compute if profile == _compute_number(H100[instance.number][0]) else []
        for index, each in enumerate(found):
            array[index] = self._pointer(each, pynvml.c_nvmlComputeInstance_t)
        count._obj.value = len(found)
        return OK

    def nvmlComputeInstanceDestroy(self, pointer: Any) -> int:
        compute: Compute = self._thing(pointer)
        if compute.processes:
            raise _error(pynvml.NVML_ERROR_IN_USE)
        for card in self.cards:
            for instance in card.instances:
                if compute in instance.compute:
                    instance.compute.remove(compute)
        return OK

    def nvmlDeviceGetMaxMigDeviceCount(self, card: FakeCard) -> int:
        return 7 if card.profiles else 0

    def nvmlDeviceGetMigDeviceHandleByIndex(self, card: FakeCard, index: int) -> Compute:
        devices = [compute for instance in card.instances for compute in instance.compute]
        if index >= len(devices):
            raise _error(pynvml.NVML_ERROR_NOT_FOUND)
        return devices[index]

    def nvmlDeviceGetGpuInstanceId(self, device: Compute) -> int:
        ids: list[int] = [each.id for card in self.cards for each in card.instances if device in each.compute]
        return ids[0]

    def nvmlDeviceGetComputeInstanceId(self, device: Compute) -> int:
        return device.id

    def nvmlDeviceGetComputeRunningProcesses(self, card: FakeCard) -> list[Any]:
        return card.processes

    def nvmlDeviceGetProcessUtilization(self, card: FakeCard, since: int) -> list[Any]:
        if not card.processes:
            raise _error(pynvml.NVML_ERROR_NOT_FOUND)
        return [SimpleNamespace(pid=each.pid, smUtil=each.sm, timeStamp=5) for each in card.processes]


def _number(profile_id: int) -> int:
    numbers: dict[int, int] = {known: number for number, known in IDS.items()}
    return numbers[profile_id]


def _slices_of(compute_profile: int) -> int:
    return {0: 1, 1: 2, 2: 3, 3: 4, 4: 7, 5: 8, 6: 6, 7: 1, 8: 7}[compute_profile]


def _compute_number(slices: int) -> int:
    return {1: 0, 2: 1, 3: 2, 4: 3, 7: 4}[slices]


def _maybe_die(card: FakeCard, step: str) -> None:
    if card.die_after == step:
        card.die_after = ""
        raise Died


def _error(code: int) -> pynvml.NVMLError:
    return pynvml.NVMLError(code)


def install(monkeypatch: pytest.MonkeyPatch, *cards: FakeCard) -> FakeNvml:
    """Puts the cards where the library's are looked for."""
    fake = FakeNvml(*cards)
    for name in dir(fake):
        if name.startswith("nvml"):
            monkeypatch.setattr(pynvml, name, getattr(fake, name))
    return fake
