"""What a search is after."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Direction(StrEnum):
    MINIMIZE = "minimize"
    MAXIMIZE = "maximize"


class MetricStrategy(StrEnum):
    """Which value of a curve counts, as Katib's `metricStrategies` name them."""

    MIN = "min"
    MAX = "max"
    LATEST = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """A metric to make small or large; the search is done once it reaches `goal`."""

    metric: str
    direction: Direction
    goal: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {"metric": self.metric, "direction": self.direction.value, "goal": self.goal}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Objective":
        return cls(metric=said["metric"], direction=Direction(said["direction"]), goal=said.get("goal"))

    def reached(self, value: float) -> bool:
        """Whether this value is at the goal or beyond; never without a goal."""
        if self.goal is None:
            return False
        return value <= self.goal if self.direction is Direction.MINIMIZE else value >= self.goal

    def better(self, value: float, than: float) -> bool:
        return value < than if self.direction is Direction.MINIMIZE else value > than
