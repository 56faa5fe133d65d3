"""Switching MIG on and off through NVML. Written against NVIDIA's interface (NVML API Reference, "Multi Instance GPU
Management"); the other modes are matters of bookkeeping and need nothing of the card but that MIG is off.
"""

import pynvml

from apps.workloads.drivers.base import DriverError, Unsupported
from apps.workloads.drivers.said import Code, Said

MIG = "mig"
_SAID = {
    pynvml.NVML_ERROR_NOT_SUPPORTED: Said(Code.NO_MIG),
    pynvml.NVML_ERROR_NO_PERMISSION: Said(Code.MAY_NOT_SWITCH),
    pynvml.NVML_ERROR_IN_USE: Said(Code.CARD_IN_USE),
}


def set_mode(uuid: str, vendor_mode: str) -> None:
    """Bring the card into or out of MIG. Raises `Unsupported`, or `DriverError` with what is in the way."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        if vendor_mode != MIG:
            return  # no NVIDIA driver: a card of another vendor, which knows no MIG
        raise Unsupported(Said(Code.NO_NVIDIA_DRIVER)) from error
    try:
        _switch(uuid, wants_mig=vendor_mode == MIG)
    finally:
        pynvml.nvmlShutdown()


def enter_mig(uuid: str) -> None:
    """Switch MIG on where a restart of the machine has switched it off; NVML must be open. Raises `DriverError`."""
    _switch(uuid, wants_mig=True)


def _switch(uuid: str, *, wants_mig: bool) -> None:
    try:
        card = pynvml.nvmlDeviceGetHandleByUUID(uuid.encode())
        wanted = pynvml.NVML_DEVICE_MIG_ENABLE if wants_mig else pynvml.NVML_DEVICE_MIG_DISABLE
        current, pending = _mode(card, wants_mig=wants_mig)
        if current != wanted and pending != wanted:
            pynvml.nvmlDeviceSetMigMode(card, wanted)
            current, pending = pynvml.nvmlDeviceGetMigMode(card)
    except pynvml.NVMLError as error:
        raise DriverError(_SAID.get(error.value) or Said(Code.NVML, {"error": str(error)})) from error
    if current != wanted:
        raise DriverError(Said(Code.RESET_NEEDED))


def _mode(card: object, *, wants_mig: bool) -> tuple[int, int]:
    """Current and pending; a card without MIG is out of it already."""
    try:
        found: tuple[int, int] = pynvml.nvmlDeviceGetMigMode(card)
    except pynvml.NVMLError_NotSupported:
        if wants_mig:
            raise
        return pynvml.NVML_DEVICE_MIG_DISABLE, pynvml.NVML_DEVICE_MIG_DISABLE
    return found
