"""The question to a search and its answer, as plain data that passes through JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from apps.automl.search.algorithms import Algorithm
from apps.automl.search.goals import Objective
from apps.automl.search.space import Json, Space, Value


class TrialState(StrEnum):
    RUNNING = "running"
    COMPLETE = "complete"
    PRUNED = "pruned"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTrial:
    """A trial that was proposed before.

    `objectives` has a value for each objective once the trial is complete; `curve` is the first objective by step;
    `attrs` is what its suggestion said; `parent` the trial from whose checkpoint it goes on.
    """

    number: int
    values: Mapping[str, Value]
    state: TrialState
    objectives: tuple[float, ...] | None = None
    curve: tuple[tuple[int, float], ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)
    parent: int | None = None

    def as_json(self) -> Json:
        return {
            "number": self.number,
            "values": dict(self.values),
            "state": self.state.value,
            "objectives": None if self.objectives is None else list(self.objectives),
            "curve": [list(point) for point in self.curve],
            "attrs": dict(self.attrs),
            "parent": self.parent,
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "PastTrial":
        objectives = said.get("objectives")
        return cls(
            number=said["number"],
            values=said["values"],
            state=TrialState(said["state"]),
            objectives=None if objectives is None else tuple(objectives),
            curve=tuple((step, value) for step, value in said.get("curve", ())),
            attrs=said.get("attrs", {}),
            parent=said.get("parent"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """What to try next, `count` times, after all this.

    `attrs` and `study_attrs` are a sampler's own memory and are trusted: the caller gives back what answers said, and
    nothing that a person wrote.
    """

    space: Space
    objectives: tuple[Objective, ...]
    algorithm: Algorithm
    settings: Mapping[str, Any]
    seed: int
    past: tuple[PastTrial, ...]
    count: int
    study_attrs: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> Json:
        return {
            "space": self.space.as_json(),
            "objectives": [objective.as_json() for objective in self.objectives],
            "algorithm": self.algorithm.value,
            "settings": dict(self.settings),
            "seed": self.seed,
            "past": [trial.as_json() for trial in self.past],
            "count": self.count,
            "study_attrs": dict(self.study_attrs),
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Inquiry":
        return cls(
            space=Space.from_json(said["space"]),
            objectives=tuple(Objective.from_json(each) for each in said["objectives"]),
            algorithm=Algorithm(said["algorithm"]),
            settings=said.get("settings", {}),
            seed=said["seed"],
            past=tuple(PastTrial.from_json(each) for each in said["past"]),
            count=said["count"],
            study_attrs=said.get("study_attrs", {}),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Values to try: those of active parameters alone. `parent`: go on from that trial's checkpoint."""

    values: Mapping[str, Value]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    parent: int | None = None

    def as_json(self) -> Json:
        return {"values": dict(self.values), "attrs": dict(self.attrs), "parent": self.parent}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Suggestion":
        return cls(values=said["values"], attrs=said.get("attrs", {}), parent=said.get("parent"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Suggestions, in the order in which the trials get their numbers.

    There are fewer than were asked for where the grid ends (`exhausted`), or where a generation of PBT has to end first
    (not exhausted: ask again later). `study_attrs` replaces what the caller kept, in the transaction that makes the
    trials.
    """

    suggestions: tuple[Suggestion, ...]
    exhausted: bool
    study_attrs: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> Json:
        return {
            "suggestions": [suggestion.as_json() for suggestion in self.suggestions],
            "exhausted": self.exhausted,
            "study_attrs": dict(self.study_attrs),
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Answer":
        return cls(
            suggestions=tuple(Suggestion.from_json(each) for each in said["suggestions"]),
            exhausted=said["exhausted"],
            study_attrs=said.get("study_attrs", {}),
        )
