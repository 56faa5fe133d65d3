"""Huawei Ascend vNPU templates: fixed cuts of a card, named by AI cores, AI CPUs and memory.

Compute is AI cores over the card's AI cores, rounded down, so that a full set of templates fits in one card.
AI CPUs are left out: no set of templates that fits in cores and memory runs out of them.
"""

from scheduler.types import WHOLE_MILLI

_CORES = {"910A": 30, "910B2": 24, "910B3": 20, "910B4": 20, "310P3": 8}
_TEMPLATES: dict[str, dict[str, tuple[int, int]]] = {
    "910A": {"vir02": (2, 2184), "vir04": (4, 4369), "vir08": (8, 8738), "vir16": (16, 17476)},
    "910B2": {"vir03_1c_8g": (3, 8192), "vir06_1c_16g": (6, 16384), "vir12_3c_32g": (12, 32768)},
    "910B3": {"vir05_1c_16g": (5, 16384), "vir10_3c_32g": (10, 32768)},
    "910B4": {"vir05_1c_8g": (5, 8192), "vir10_3c_16g": (10, 16384)},
    "310P3": {"vir01": (1, 3072), "vir02": (2, 6144), "vir04": (4, 12288)},
}


def _family(model: str) -> str | None:
    name = model.upper()
    return next((family for family in _TEMPLATES if name.endswith(family)), None)


def template(model: str, name: str | None) -> tuple[int, int] | None:
    """(core_milli, memory_mib) of a template on this model, or None when it has no such template."""
    family = _family(model)
    if family is None or name is None or name not in _TEMPLATES[family]:
        return None
    cores, memory_mib = _TEMPLATES[family][name]
    return WHOLE_MILLI * cores // _CORES[family], memory_mib


def templates_of(model: str) -> tuple[str, ...]:
    """Names of the templates that a model offers, smallest first; empty for other vendors."""
    family = _family(model)
    return tuple(_TEMPLATES[family]) if family else ()
