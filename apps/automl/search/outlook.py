"""What more trials would bring."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

MOST_MORE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The best value of the first objective after 1, 2, 3 … more trials, over simulated continuations.

    `low`, `middle` and `high` are the 10th, 50th and 90th percentile by number of further trials, as values: with a
    metric that is minimised, `low` is the better one. `improves` and `reaches_goal` are shares of the continuations in
    which the best is better, or at the goal, after all of them; `trials` is on how many results this rests.
    """

    best: float
    low: tuple[float, ...]
    middle: tuple[float, ...]
    high: tuple[float, ...]
    improves: float
    reaches_goal: float | None
    trials: int
    rounds: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Outlook":
        curves = {name: tuple(said[name]) for name in ("low", "middle", "high")}
        return cls(**{**said, **curves})
