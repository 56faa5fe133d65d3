"""What a machine reports of its accelerators, for all vendors. Plain data, because agents have no database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Trouble(StrEnum):
    """Why nothing new is placed on a card. The last four are found by the platform, the others by the card's node."""

    LOST = "lost"  # it fell off the bus
    RESET = "reset"  # its driver wants it reset
    RESTART = "restart"  # its driver wants the machine restarted
    UNREAD = "unread"  # its driver answers with an error
    DRIVER = "driver"  # its driver calls it unhealthy
    LIBRARY = "library"  # the driver's library fails for the whole machine
    ABSENT = "absent"  # its driver does not list it
    CUT = "cut"  # somebody switched MIG on by hand
    FAULT = "fault"  # it reported a fault after which it has to be reset, or its machine restarted


@dataclass(frozen=True, slots=True)
class MigCut:
    """A MIG profile that a card's driver offers: `size` memory slices at each of `starts`, and MiB.

    `compute` in compute slices; `maximum`: how many may lie on the card at once.
    """

    name: str
    starts: tuple[int, ...]
    size: int
    compute: int
    memory_mib: int
    maximum: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "MigCut":
        """Raises TypeError for malformed data."""
        return cls(**{**data, "starts": tuple(data.get("starts", ()))})


@dataclass(frozen=True, slots=True)
class Card:
    """One accelerator: MiB, per cent, °C, watts. What the driver does not report is None.

    `mig_cuts`: what the driver says that it may be cut into; () for a card without MIG, None where it would not say.
    `partition`: the compute partition that an AMD card is in (SPX, DPX, CPX, …). `healthy`: as its driver reports.
    `pci`: its address (`0000:18:00.0`). `numa`: its NUMA node. `links`: uuids of other cards of the machine, each with
    how it is connected (`card_links`). `trouble`: why it is not healthy, one of `Trouble`.
    """

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
    mig_cuts: tuple[MigCut, ...] | None = None
    partition: str = ""
    healthy: bool = True
    pci: str = ""
    numa: int | None = None
    links: tuple[tuple[str, str], ...] = ()
    trouble: str = ""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Card":
        """A card that another machine reported. Raises TypeError or ValueError for malformed data."""
        fields = dict(data)
        fields["links"] = tuple((str(peer), str(link)) for peer, link in fields.get("links", ()))
        cuts: Sequence[Mapping[str, Any]] | None = fields.pop("mig_cuts", None)
        told = None if cuts is None else tuple(MigCut.from_json(cut) for cut in cuts)
        return cls(**fields, mig_cuts=told)


@dataclass(frozen=True, slots=True)
class UnreadCard:
    """A card that its driver lists and cannot read. `uuid` "" if not even that is known; `error`: NVML's name."""

    index: int
    uuid: str
    error: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "UnreadCard":
        """Raises KeyError, TypeError or ValueError for malformed data."""
        return cls(int(data["index"]), str(data["uuid"]), str(data["error"]))

    @property
    def trouble(self) -> Trouble:
        return _TROUBLES.get(self.error, Trouble.UNREAD)


_TROUBLES = {"GPU_IS_LOST": Trouble.LOST, "RESET_REQUIRED": Trouble.RESET}
