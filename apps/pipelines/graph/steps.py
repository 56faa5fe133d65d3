"""What a step is, and what it needs of others."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """How a step ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    STOPPED = "stopped"


class When(StrEnum):
    """How a needed step has to end. `METRIC`: well, and with a metric within a bound."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    ENDED = "ended"
    METRIC = "metric"


class Comparison(StrEnum):
    AT_LEAST = ">="
    AT_MOST = "<="
    ABOVE = ">"
    BELOW = "<"
    EQUAL = "=="
    UNEQUAL = "!="


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """`accuracy >= 0.9`: the last value that the needed step's run said of this metric."""

    metric: str
    comparison: Comparison
    value: float

    def holds(self, said: float) -> bool:
        """False for NaN, which no bound lets through."""
        held = {
            Comparison.AT_LEAST: said >= self.value,
            Comparison.AT_MOST: said <= self.value,
            Comparison.ABOVE: said > self.value,
            Comparison.BELOW: said < self.value,
            Comparison.EQUAL: said == self.value,
            Comparison.UNEQUAL: said != self.value,
        }
        return held[self.comparison] and not math.isnan(said)

    def __str__(self) -> str:
        return f"{self.metric} {self.comparison} {self.value:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """An edge: `step` has to have ended in the way of `when`. `bound` belongs to `When.METRIC`."""

    step: str
    when: When = When.SUCCEEDED
    bound: Bound | None = None

    def as_json(self) -> dict[str, Any]:
        said: dict[str, Any] = {"step": self.step, "when": self.when.value}
        if self.bound is not None:
            bound = self.bound
            said |= {"metric": bound.metric, "comparison": bound.comparison.value, "value": bound.value}
        return said

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Need":
        when = When(said.get("when") or (When.METRIC if said.get("metric") else When.SUCCEEDED))
        bound = None
        if when is When.METRIC:
            bound = Bound(metric=said["metric"], comparison=Comparison(said["comparison"]), value=float(said["value"]))
        return cls(step=said["step"], when=when, bound=bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """`template`: the id of the run that it is like. `arguments`, `environment`: rows that replace those of the
    template, in which `${name}` stands for a parameter of the pipeline.

    `inputs`: needed steps whose output it reads. `retries`: so many further attempts after a failed one, each
    `pause_s` later. `may_fail`: its failure does not make the pipeline a failed one.
    """

    name: str
    template: str
    needs: tuple[Need, ...] = ()
    inputs: tuple[str, ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    retries: int = 0
    pause_s: int = 0
    may_fail: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "template": self.template,
            "needs": [each.as_json() for each in self.needs],
            "inputs": list(self.inputs),
            "arguments": [list(row) for row in self.arguments],
            "environment": [list(row) for row in self.environment],
            "retries": self.retries,
            "pause_s": self.pause_s,
            "may_fail": self.may_fail,
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Step":
        return cls(
            name=said["name"],
            template=said["template"],
            needs=tuple(Need.from_json(each) for each in said["needs"]),
            inputs=tuple(said["inputs"]),
            arguments=tuple((name, value) for name, value in said["arguments"]),
            environment=tuple((name, value) for name, value in said["environment"]),
            retries=said["retries"],
            pause_s=said["pause_s"],
            may_fail=said["may_fail"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """`parameters`: by name, with the value that is used unless a start names another."""

    steps: tuple[Step, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {"steps": [each.as_json() for each in self.steps], "parameters": dict(self.parameters)}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Graph":
        return cls(steps=tuple(Step.from_json(each) for each in said["steps"]), parameters=dict(said["parameters"]))

    def step(self, name: str) -> Step:
        return next(each for each in self.steps if each.name == name)

    def measured(self) -> frozenset[str]:
        """Steps on whose metrics another one's start depends."""
        return frozenset(need.step for each in self.steps for need in each.needs if need.when is When.METRIC)


def names_of(steps: Sequence[Step]) -> list[str]:
    return [each.name for each in steps]
