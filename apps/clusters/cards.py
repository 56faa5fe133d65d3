"""What a machine tells of its accelerators, whatever their vendor. Plain data: agents know no database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class MigCut:
    """One profile that the driver of a card offers: memory slices at each of `starts`, `size` of them, MiB.

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
        """Raises TypeError for what is no profile."""
        return cls(**{**data, "starts": tuple(data.get("starts", ()))})


@dataclass(frozen=True, slots=True)
class Card:
    """One accelerator: MiB, per cent, °C, watts. What the driver does not tell is None.

    `mig_cuts`: what the driver says that it may be cut into; () for a card without MIG, None where it would not say.
    `partition`: the compute partition that an AMD card is in (SPX, DPX, CPX, …). `healthy`: by its driver's own word.
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

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Card":
        """What another machine told of a card. Raises TypeError for what is none."""
        fields = dict(data)
        cuts: Sequence[Mapping[str, Any]] | None = fields.pop("mig_cuts", None)
        told = None if cuts is None else tuple(MigCut.from_json(cut) for cut in cuts)
        return cls(**fields, mig_cuts=told)
