"""NVIDIA's numbers for faults of its cards ("XID Errors"), as its driver writes them into the kernel's log.

What each asks for follows the immediate action in NVIDIA's catalogue (docs.nvidia.com, "Analyzing Xid Errors with the
Xid Catalog", for Ampere and newer cards). Where a workflow stands there instead, the stricter of its ends is taken.
Numbers that are not here are told of and keep no work away. 154 says itself what its card needs.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class Remedy(StrEnum):
    """What has to be done before the card is to be relied upon again."""

    NOTHING = "nothing"
    APP = "app"  # the program did it or was hit by it, and has to be started again; the card is well
    RESET = "reset"  # the card has to be reset
    RESTART = "restart"  # the machine has to be restarted


FATAL = frozenset({Remedy.RESET, Remedy.RESTART})
RECOVERY_CHANGED = 154
_APP = (8, 13, 25, 31, 32, 39, 40, 41, 43, 45, 60, 68, *range(69, 73), *range(75, 78), 80, *range(82, 87), 88, 89, 94,
        *range(96, 106), *range(126, 136), 137, 139)  # fmt: skip
_RESET = (46, 48, 62, 64, 74, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158)
_RESTART = (79, 151)
REMEDIES: Mapping[int, Remedy] = {
    **dict.fromkeys(_APP, Remedy.APP),
    **dict.fromkeys(_RESET, Remedy.RESET),
    **dict.fromkeys(_RESTART, Remedy.RESTART),
}
LONGEST_PROCESS, LONGEST_TEXT = 32, 300
_EARLIEST, _LATEST = 946_684_800, 4_102_444_800  # the years 2000 and 2100, in Unix seconds

# Old drivers wrote no "PCI:", no pid and no name. A MIG instance stands after the address.
_LINE = re.compile(
    r"NVRM: Xid \((?:PCI:)?(?P<pci>[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-7])?(?: GPU-I:\w+)?\):"
    r" (?P<code>\d{1,4})(?:, *(?P<rest>.*))?$",
    re.IGNORECASE,
)
_PROGRAM = re.compile(r"pid='?(?P<pid>\d+|<unknown>)'?,? *(?:name='?(?P<name>[^,']*)'?,? *)?(?P<text>.*)$")
# Drivers word the actions differently ("GPU Reset Required", "PF FLR"); the numbers are those of NVML.
_RECOVERY = re.compile(r"changed from .* to 0x(?P<wanted>[0-9a-f]+)", re.IGNORECASE)
_RECOVERIES: Mapping[int, Remedy] = {
    1: Remedy.RESET,
    2: Remedy.RESTART,
    4: Remedy.RESET,  # after its work has left it
    6: Remedy.RESET,  # of its bus
    7: Remedy.RESTART,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A card's fault: `pci` as in `0000:01:00`; `pid` 0 and `process` "" where it is not told whose program ran.

    Of several that are alike, `at` is the first in Unix seconds, and `last_at` and `last_usec` (since the machine's
    start) the newest.
    """

    pci: str
    code: int
    pid: int
    process: str
    text: str
    at: float
    last_at: float
    last_usec: int

    @property
    def key(self) -> tuple[str, int, int]:
        return self.pci, self.code, self.pid

    @property
    def remedy(self) -> Remedy:
        return remedy(self.code, self.text)

    def merged(self, newer: "Fault") -> "Fault":
        return replace(newer, at=self.at)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Fault":
        """What another machine reports. Raises KeyError, TypeError or ValueError for malformed data."""
        found = cls(
            pci=pci_key(str(data["pci"])),
            code=int(data["code"]),
            pid=int(data["pid"]),
            process=_clean(str(data["process"]), LONGEST_PROCESS),
            text=_clean(str(data["text"]), LONGEST_TEXT),
            at=float(data["at"]),
            last_at=float(data["last_at"]),
            last_usec=int(data["last_usec"]),
        )
        times = (found.at, found.last_at)
        if not all(math.isfinite(time) and _EARLIEST <= time <= _LATEST for time in times):
            raise ValueError("A time makes no sense")
        if not (0 <= found.code < 2**15 and 0 <= found.pid < 2**31 and 0 <= found.last_usec < 2**63):
            raise ValueError("A number makes no sense")
        return found


def parse(line: str, *, usec: int, started: float) -> Fault | None:
    """The fault that a line of the kernel's log tells of, if any. `started`: of the machine, in Unix seconds."""
    match = _LINE.search(line)
    if match is None:
        return None
    rest = match["rest"] or ""
    program = _PROGRAM.match(rest)
    pid, name = (program["pid"], program["name"] or "") if program else ("", "")
    at = started + usec / 1_000_000
    return Fault(
        pci=pci_key(match["pci"]),
        code=int(match["code"]),
        pid=int(pid) if pid.isdigit() else 0,
        process="" if name == "<unknown>" else _clean(name, LONGEST_PROCESS),
        text=_clean(program["text"] if program else rest, LONGEST_TEXT),
        at=at,
        last_at=at,
        last_usec=usec,
    )


def remedy(code: int, text: str) -> Remedy:
    if code != RECOVERY_CHANGED:
        return REMEDIES.get(code, Remedy.NOTHING)
    match = _RECOVERY.search(text)
    return _RECOVERIES.get(int(match["wanted"], 16), Remedy.NOTHING) if match else Remedy.NOTHING


def pci_key(address: str) -> str:
    """`0000:01:00`, however a card's place is written: with its function or without, with a long domain or a short."""
    domain, _, rest = address.strip().lower().partition(":")
    return f"{domain[-4:]}:{rest.partition('.')[0]}"[:20]


def _clean(text: str, longest: int) -> str:
    return "".join(letter for letter in text if letter.isprintable()).strip()[:longest]
