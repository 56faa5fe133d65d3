"""What npu-smi prints, read: the map of chips, the table of their state, and lists of `name : value`.

The table has two rows for each chip. Its columns differ from version to version: memory is the last pair of numbers,
HBM where the chip has any and DDR where it has none; the second number of the second row is there on some boards only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# No card is as large; one that says so is not believed.
MOST_MEMORY_MIB = 4 * 1024 * 1024
_PAIR = re.compile(r"(\d+)\s*/\s*(\d+)")
_NUMBER = re.compile(r"\d+(\.\d+)?")
_NOT_TOLD = frozenset({"", "-", "NA", "N/A"})


Row = tuple[str, str, str]


class Nonsense(ValueError):
    """Output that cannot be what it should be; says what."""


@dataclass(frozen=True, slots=True)
class Chip:
    """One that computes: its board (`npu`), its number there, and the number by which programs choose it."""

    npu: int
    number: int
    logic_id: int

    @property
    def place(self) -> tuple[int, int]:
        return self.npu, self.number


@dataclass(frozen=True, slots=True)
class Reading:
    """A chip's state: MiB, per cent, °C, watts. What is not told, or cannot be, is None; memory is always told."""

    name: str
    health: str
    bus_id: str
    memory_mib: int
    memory_used_mib: int | None
    utilisation_pct: float | None
    temperature_c: int | None
    power_w: float | None


def chips(text: str) -> list[Chip]:
    """Of `info -m`, by their logic ids; controllers on the board have none. Raises Nonsense for two with one number."""
    found = [Chip(int(row[0]), int(row[1]), int(row[2])) for row in map(str.split, text.splitlines()) if _maps(row)]
    if not found:
        raise Nonsense(f"npu-smi lists no chip: {_first_line(text)}")
    for what, count in (("place", len({chip.place for chip in found})), ("id", len({c.logic_id for c in found}))):
        if count < len(found):
            raise Nonsense(f"npu-smi lists two chips with one {what}")
    return sorted(found, key=lambda chip: chip.logic_id)


def _maps(row: list[str]) -> bool:
    return len(row) >= 4 and all(word.isdecimal() for word in row[:3])


def _first_line(text: str) -> str:
    return next((line.strip()[:200] for line in text.splitlines() if line.strip()), "it says nothing")


def readings(text: str) -> dict[tuple[int, int], Reading | Nonsense]:
    """Of `info`, by board and chip; what is wrong with one says nothing about the others.

    Raises Nonsense for what is not such a table.
    """
    found: dict[tuple[int, int], Reading | Nonsense] = {}
    rows = list(_rows(text))
    if len(rows) % 2:
        raise Nonsense("npu-smi breaks off in the middle of a chip")
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        place = _place(first, second)
        found[place] = Nonsense("told twice") if place in found else _reading(first, second)
    return found


def _rows(text: str) -> Iterator[Row]:
    """The cells of the chips' rows. The table of processes below looks like them, so it ends there."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if "Process id" in line:
            return
        if len(cells) == 3 and cells[0][:1].isdecimal():
            yield cells[0], cells[1], cells[2]


def _place(first: Row, second: Row) -> tuple[int, int]:
    npu, chip = first[0].split()[0], second[0].split()[0]
    if not (npu.isdecimal() and chip.isdecimal()):
        raise Nonsense(f"npu-smi's table is not understood: {first[0]} | {second[0]}")
    return int(npu), int(chip)


def _reading(first: Row, second: Row) -> Reading | Nonsense:
    name, pairs = first[0].partition(" ")[2].strip(), _PAIR.findall(second[2])
    if not name or not pairs:
        return Nonsense("without a memory" if name else "without a name")
    used, total = (int(number) for number in pairs[-1])
    if not 0 < total <= MOST_MEMORY_MIB:
        return Nonsense(f"told to have {total} MiB of memory")
    degrees = _measure(first[2], 1, 200)
    return Reading(
        name=name,
        health=first[1],
        bus_id=second[1],
        memory_mib=total,
        memory_used_mib=used if used <= total else None,
        utilisation_pct=_measure(second[2], 0, 100),
        temperature_c=None if degrees is None else round(degrees),
        power_w=_measure(first[2], 0, 10_000),
    )


def _measure(cell: str, column: int, most: float) -> float | None:
    words = cell.split()
    word = words[column] if column < len(words) else ""
    if word in _NOT_TOLD or not _NUMBER.fullmatch(word):
        return None
    return float(word) if float(word) <= most else None


def fields(text: str) -> dict[str, str]:
    """`name : value`, line by line."""
    pairs = (line.split(" : ", 1) for line in text.splitlines() if " : " in line)
    return {name.strip(): value.strip() for name, value in pairs}
