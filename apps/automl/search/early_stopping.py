"""Which running trials are not worth going on."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class EarlyStoppingKind(StrEnum):
    NONE = "none"
    MEDIAN = "median"


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStopping:
    """`start_step`: no trial is stopped before it; `min_trials`: nor before so many are complete."""

    kind: EarlyStoppingKind = EarlyStoppingKind.NONE
    start_step: int = 4
    min_trials: int = 3

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind.value, "start_step": self.start_step, "min_trials": self.min_trials}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "EarlyStopping":
        return cls(kind=EarlyStoppingKind(said["kind"]), start_step=said["start_step"], min_trials=said["min_trials"])
