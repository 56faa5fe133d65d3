"""What a machine reports of its accelerators, for all vendors. Plain data, because agents have no database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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
    how it is connected (`card_links`).
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

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Card":
        """A card that another machine reported. Raises TypeError or ValueError for malformed data."""
        fields = dict(data)
        fields["links"] = tuple((str(peer), str(link)) for peer, link in fields.get("links", ()))
        cuts: Sequence[Mapping[str, Any]] | None = fields.pop("mig_cuts", None)
        told = None if cuts is None else tuple(MigCut.from_json(cut) for cut in cuts)
        return cls(**fields, mig_cuts=told)
