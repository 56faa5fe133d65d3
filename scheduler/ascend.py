"""Huawei Ascend vNPU templates: fixed cuts of a card, named by AI cores, AI CPUs and memory.

AI cores, AI CPUs and memory of cards and templates: MindCluster, "Virtualization rules" (hiascend.com), and what
`npu-smi info -t template-info` prints. Templates that take all the media engines of a card (vir04_4c_dvpp,
vir10_4c_16g_m) are not offered: what else fits beside them is not a matter of size.

A card has one number for compute, so a template's is the larger of its shares of the AI cores and of the AI CPUs: a set
that fits by these numbers fits on the card. On the 310P3, where AI CPUs are short (7 for 8 cores), the numbers are
chosen so that the reverse holds as well: 126 for each AI core less 8 for each AI CPU that the template does without.
"""

from dataclasses import dataclass

from scheduler.types import WHOLE_MILLI


@dataclass(frozen=True, slots=True)
class Template:
    cores: int
    cpus: int
    memory_mib: int


@dataclass(frozen=True, slots=True)
class Chip:
    """AI cores and AI CPUs of a card, and its templates by name, smallest first."""

    cores: int
    cpus: int
    templates: dict[str, Template]

    def core_milli(self, template: Template) -> int:
        """The template's compute in milli-cards."""
        if (self.cores, self.cpus) == (8, 7):
            return 126 * template.cores - 8 * (template.cores - template.cpus)
        return WHOLE_MILLI * max(template.cores * self.cpus, template.cpus * self.cores) // (self.cores * self.cpus)


# A 910A may be cut into fifteen vir02, so its AI CPUs never run out before its AI cores.
CHIPS = {
    "910A": Chip(
        30,
        15,
        {
            "vir02": Template(2, 1, 2184),
            "vir04": Template(4, 1, 4369),
            "vir08": Template(8, 3, 8738),
            "vir16": Template(16, 7, 17476),
        },
    ),
    "910B2": Chip(
        24,
        6,
        {
            "vir03_1c_8g": Template(3, 1, 8192),
            "vir06_1c_16g": Template(6, 1, 16384),
            "vir12_3c_32g": Template(12, 3, 32768),
        },
    ),
    "910B3": Chip(20, 7, {"vir05_1c_16g": Template(5, 1, 16384), "vir10_3c_32g": Template(10, 3, 32768)}),
    "910B4": Chip(
        20,
        7,
        {
            "vir05_1c_8g": Template(5, 1, 8192),
            "vir10_3c_16g": Template(10, 3, 16384),
            "vir10_3c_16g_nm": Template(10, 3, 16384),
        },
    ),
    "310P3": Chip(
        8,
        7,
        {
            "vir01": Template(1, 1, 3072),
            "vir02_1c": Template(2, 1, 6144),
            "vir02": Template(2, 2, 6144),
            "vir04_3c": Template(4, 3, 12288),
            "vir04_3c_ndvpp": Template(4, 3, 12288),
            "vir04": Template(4, 4, 12288),
        },
    ),
}


def chip_of(model: str) -> Chip | None:
    """The chip by the end of the model's name (Ascend910B3, 910B3, ...), None for other vendors."""
    name = model.upper()
    return next((chip for family, chip in CHIPS.items() if name.endswith(family)), None)


def template_size(model: str, name: str | None) -> tuple[int, int] | None:
    """(core_milli, memory_mib) of a template on this model, or None when it has no such template."""
    chip = chip_of(model)
    found = chip.templates.get(name or "") if chip is not None else None
    return (chip.core_milli(found), found.memory_mib) if chip is not None and found is not None else None


def templates_of(model: str) -> tuple[str, ...]:
    """Names of the templates that a model offers, smallest first; empty for other vendors."""
    chip = chip_of(model)
    return tuple(chip.templates) if chip is not None else ()
