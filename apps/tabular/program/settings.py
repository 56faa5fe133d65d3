"""What the search is told."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLASSIFICATION, REGRESSION = "classification", "regression"


@dataclass(frozen=True)
class Settings:
    """`group`, `time`: the column by which rows are kept together or put in order, or "". `folds` 0: one holdout.

    `key` names the run: after an interruption its budget goes on, a later run of the same search has it anew.
    """

    key: str
    file: str
    target: str
    task: str
    metric: str
    left_out: tuple[str, ...]
    folds: int
    holdout: float
    test: float
    group: str
    time: str
    minutes: float
    learners: tuple[str, ...]
    seed: int
    cpus: int
    most_trials: int = 0

    @classmethod
    def read(cls, path: Path, key: str) -> "Settings":
        said: dict[str, Any] = {**json.loads(path.read_text()), "key": key}
        return cls(**{**said, "left_out": tuple(said["left_out"]), "learners": tuple(said["learners"])})

    @property
    def question(self) -> dict[str, Any]:
        """What has to be the same for trials of an earlier start to count."""
        names = ("target", "task", "metric", "folds", "holdout", "test", "group", "time", "seed")
        return {**{name: getattr(self, name) for name in names}, "left_out": sorted(self.left_out)}
