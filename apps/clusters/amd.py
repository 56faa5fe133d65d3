"""AMD cards as their kernel driver reports them in sysfs (docs.kernel.org, "Misc AMDGPU driver information").

A card in a compute partition (`current_compute_partition`) is several devices to the kernel, and so several cards here:
each is given out whole. Which partition is set is the operator's choice, made with amd-smi and shown in the console.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from apps.clusters.cards import Card

VENDOR_ID = "0x1002"
MIB = 1024 * 1024
_CARD = re.compile(r"card\d+")


def cards(root: Path = Path("/")) -> Iterator[Card]:
    """Cards in the order of their PCI addresses; none without a driver, or if no card reports its memory."""
    folders = sorted({_device(path) for path in root.glob("sys/class/drm/card*") if _CARD.fullmatch(path.name)})
    found = [folder for folder in folders if _word(folder / "vendor") == VENDOR_ID and _number(_total(folder))]
    for index, folder in enumerate(found):
        yield _card(index, folder)


def driver_versions(root: Path = Path("/")) -> dict[str, str]:
    """`amdgpu-driver`; empty without the module, or for the kernel's own, which has no version but the kernel's."""
    version = _word(root / "sys/module/amdgpu/version")
    return {"amdgpu-driver": version} if version else {}


def _device(path: Path) -> Path:
    return (path / "device").resolve()


def _total(folder: Path) -> Path:
    return folder / "mem_info_vram_total"


def _card(index: int, folder: Path) -> Card:
    used = _number(folder / "mem_info_vram_used")
    busy = _number(folder / "gpu_busy_percent")
    degrees = next((value for path in folder.glob("hwmon/hwmon*/temp1_input") if (value := _number(path))), None)
    power = next((value for path in folder.glob("hwmon/hwmon*/power1_average") if (value := _number(path))), None)
    return Card(
        # What ROCR_VISIBLE_DEVICES understands; a card too old to have an id of its own is named by its address.
        uuid=f"GPU-{_word(folder / 'unique_id') or folder.name}",
        index=index,
        vendor="amd",
        model=_word(folder / "product_name") or f"AMD {_word(folder / 'device')}",
        memory_mib=(_number(_total(folder)) or 0) // MIB,
        utilisation_pct=None if busy is None else float(busy),
        memory_used_mib=None if used is None else used // MIB,
        temperature_c=None if degrees is None else degrees // 1000,
        power_w=None if power is None else power / 1_000_000,
        mig_cuts=(),
        partition=_word(folder / "current_compute_partition"),
        pci=folder.name,
    )


def _word(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    told = _word(path)
    return int(told) if told.isdigit() else None
