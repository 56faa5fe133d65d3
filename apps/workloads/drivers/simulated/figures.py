"""Made-up figures of cards that do not exist: smooth, repeatable, and never mistaken for measurements of real ones.

The same seed and time give the same figure, so that a chart drawn twice looks the same twice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from zlib import crc32

from apps.workloads.drivers.base import DeviceGrant, Usage

IDLE_C, BUSY_C = 32, 71
IDLE_W, BUSY_W = 55.0, 380.0
# A program takes this long until its model is loaded and it computes at full pace.
WARM_UP_S = 40.0


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one card: utilisation in percent, memory in MiB, °C, watts."""

    utilisation_pct: float
    memory_used_mib: int
    temperature_c: int
    power_w: float


def of_card(seed: str, at_s: float, *, load_pct: float, memory_mib: int) -> Figures:
    """A card that is given out to `load_pct` per cent, of which `memory_mib` are taken; idle at zero."""
    utilisation = 0.0 if load_pct <= 0 else _wave(seed, at_s, 62.0, 97.0) * min(100.0, load_pct) / 100
    heat = utilisation / 100
    return Figures(
        utilisation_pct=round(utilisation, 1),
        memory_used_mib=memory_mib,
        temperature_c=round(IDLE_C + _wave(seed, at_s / 3, 0.0, 4.0) + heat * (BUSY_C - IDLE_C)),
        power_w=round(IDLE_W + heat * (BUSY_W - IDLE_W), 1),
    )


def with_cards(usage: Usage, devices: Sequence[DeviceGrant]) -> Usage:
    """The process's own CPU and memory, with made-up figures of the cards that it was granted."""
    if not devices:
        return usage
    warm = min(1.0, usage.at_s / WARM_UP_S)
    held = sum(device.memory_mib for device in devices)
    utilisation = _wave(devices[0].uuid, usage.at_s, 62.0, 97.0) * warm
    filled = 0.08 + 0.7 * warm
    return replace(
        usage,
        gpu_util_pct=round(utilisation, 1),
        gpu_memory_mib=round(held * filled),
        gpu_fullest_mib=round(max(device.memory_mib for device in devices) * filled),
        gpu_temperature_c=round(IDLE_C + utilisation / 100 * (BUSY_C - IDLE_C)),
    )


def _wave(seed: str, at_s: float, low: float, high: float) -> float:
    """Between `low` and `high`: two sines whose phases follow from the seed."""
    phase = crc32(seed.encode()) % 1000 / 1000 * 2 * math.pi
    mixed = 0.6 * math.sin(at_s / 37 + phase) + 0.4 * math.sin(at_s / 11 + 2 * phase)
    return low + (high - low) * (mixed + 1) / 2
