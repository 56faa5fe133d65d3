"""What a search has found so far, from the output of its run.

Its owner's program wrote it, so nothing in it is believed blindly: what is not as `program` writes it is not there.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.common.errors import DomainError
from apps.storage import texts
from apps.tabular.choices import Learner, TrialState
from apps.training.models import Run
from apps.training.selectors import open_output

LARGEST = 4 << 20
MOST_TRIALS, MOST_COLUMNS, MOST_CLASSES, MOST_POINTS, LONGEST = 2000, 500, 30, 500, 200
DARKEST = 30
FILES = ("report.html", "predictions.csv", "model/model.skops", "model/signature.json", "model/predict.py",
         "model/requirements.txt")  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrialRow:
    """`score`: as people read it; None where it failed. `values`: of its settings, by name."""

    number: int
    learner: str
    state: TrialState
    score: float | None
    spread: float | None
    seconds: float
    values: tuple[tuple[str, str], ...]
    said: str

    @property
    def learner_label(self) -> str:
        return str(Learner(self.learner).label) if self.learner in Learner.values else self.learner


@dataclass(frozen=True, slots=True)
class Importance:
    """`percent`: of the column that matters most."""

    column: str
    mean: float
    spread: float
    percent: int


@dataclass(frozen=True, slots=True)
class Step:
    """What is done to a column: `number`, `truth`, `category`, `date` or `left_out` with a `why`."""

    column: str
    done: str
    why: str
    missing: float | None


@dataclass(frozen=True, slots=True)
class Confusion:
    """By true class, then by what the model says: the count, its share of the row, how dark its cell is, in per cent.

    The darkest still lets its number be read, in light and in dark.
    """

    classes: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[int, int, int], ...]], ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Of the best model, on the rows that no trial saw."""

    scores: tuple[tuple[str, float | None], ...]
    learned: int
    judged: int
    importance: tuple[Importance, ...]
    steps: tuple[Step, ...]
    confusion: Confusion | None
    residuals: tuple[tuple[float, float], ...]
    notes: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Results:
    """`problem`: why nothing could be searched, as a code with parameters."""

    trials: tuple[TrialRow, ...] = ()
    best: TrialRow | None = None
    judgement: Judgement | None = None
    problem: tuple[str, Mapping[str, Any]] | None = None


def results_of(run: Run) -> Results:
    board, problem = _read(run, "leaderboard.json"), _read(run, "problem.json")
    trials = _each(_trial, board.get("trials"), MOST_TRIALS)
    best = next((each for each in trials if each.number == board.get("best")), None)
    said = problem.get("parameters")
    found = (str(problem["code"]), said if isinstance(said, dict) else {}) if "code" in problem else None
    return Results(trials, best, _judgement(_read(run, "result.json")), found)


def raw(run: Run, name: str) -> dict[str, Any] | None:
    """As the program wrote it, for the API; None before it has."""
    return _read(run, name) or None


def _read(run: Run, name: str) -> dict[str, Any]:
    try:
        descriptor = open_output(run, name)
    except DomainError:
        return {}
    with open(descriptor, "rb") as file:
        data = texts.read_all(file.fileno(), LARGEST + 1)
    try:
        found = json.loads(data) if len(data) <= LARGEST else None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _each(read: Any, said: Any, most: int) -> tuple[Any, ...]:
    found = []
    for each in said[:most] if isinstance(said, list) else ():
        try:
            found.append(read(each))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            continue
    return tuple(found)


def _trial(said: Mapping[str, Any]) -> TrialRow:
    values = tuple((str(name)[:LONGEST], _shown(value)) for name, value in said["config"].items())
    return TrialRow(
        int(said["number"]),
        str(said["learner"])[:LONGEST],
        TrialState(said["state"]),
        _number(said["score"]),
        _number(said["spread"]),
        _number(said["seconds"]) or 0.0,
        values,
        str(said["said"])[:LONGEST],
    )


def _judgement(said: Mapping[str, Any]) -> Judgement | None:
    try:
        rows = said["rows"]
        return Judgement(
            scores=tuple((str(name), _number(value)) for name, value in said["scores"].items()),
            learned=int(rows["learn"]),
            judged=int(rows["judge"]),
            importance=_importance(_each(_important, said["importance"], MOST_COLUMNS)),
            steps=_each(_step, said["steps"], MOST_COLUMNS),
            confusion=_confusion(said["confusion"]),
            residuals=_each(_point, (said["residuals"] or {}).get("points"), MOST_POINTS),
            notes=tuple(each for each in said["notes"] if isinstance(each, dict)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def _important(said: Mapping[str, Any]) -> tuple[str, float, float]:
    return str(said["column"])[:LONGEST], _number(said["mean"]) or 0.0, _number(said["spread"]) or 0.0


def _importance(found: Sequence[tuple[str, float, float]]) -> tuple[Importance, ...]:
    most = max((mean for _name, mean, _spread in found), default=0.0)
    return tuple(
        Importance(name, mean, spread, round(100 * max(0.0, mean) / most) if most > 0 else 0)
        for name, mean, spread in found
    )


def _step(said: Mapping[str, Any]) -> Step:
    return Step(str(said["column"])[:LONGEST], str(said["do"]), str(said.get("why", "")), _number(said.get("missing")))


def _confusion(said: Mapping[str, Any] | None) -> Confusion | None:
    if not said or len(said["classes"]) > MOST_CLASSES:
        return None
    classes = tuple(str(each)[:LONGEST] for each in said["classes"])
    rows = []
    for name, counts in zip(classes, said["counts"], strict=True):
        numbers = [int(each) for each in counts]
        whole = sum(numbers) or 1
        rows.append(
            (name, tuple((number, round(100 * number / whole), round(DARKEST * number / whole)) for number in numbers))
        )
    return Confusion(classes, tuple(rows))


def _point(said: Sequence[Any]) -> tuple[float, float]:
    true, predicted = float(said[0]), float(said[1])
    if not (math.isfinite(true) and math.isfinite(predicted)):
        raise ValueError
    return true, predicted


def _number(value: Any) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)[:LONGEST]
