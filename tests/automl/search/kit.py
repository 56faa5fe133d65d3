"""Spaces to search, a function with a known best point, and a caller that keeps a search in its rows alone."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from apps.automl.search.algorithms import Algorithm
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.inquiry import Answer, Inquiry, PastTrial, TrialState
from apps.automl.search.space import Condition, Parameter, ParameterKind, Space, Value, size

LOSS = Objective(metric="loss", direction=Direction.MINIMIZE)
Ask = Callable[[Inquiry], Answer]


def double(name: str, low: float, high: float, **more: Any) -> Parameter:
    return Parameter(name=name, kind=ParameterKind.DOUBLE, low=low, high=high, **more)


def whole(name: str, low: int, high: int, **more: Any) -> Parameter:
    return Parameter(name=name, kind=ParameterKind.INT, low=low, high=high, **more)


def categorical(name: str, *choices: Value, **more: Any) -> Parameter:
    return Parameter(name=name, kind=ParameterKind.CATEGORICAL, choices=choices, **more)


def discrete(name: str, *choices: Value, **more: Any) -> Parameter:
    return Parameter(name=name, kind=ParameterKind.DISCRETE, choices=choices, **more)


def space(*parameters: Parameter) -> Space:
    return Space(parameters=parameters)


PLANE = space(double("x", -5, 5), double("y", 1e-3, 10, log=True))


def bowl(values: Mapping[str, Any]) -> float:
    """0 at x = 1, y = 0.1; a random point of `PLANE` has about 8."""
    return float((values["x"] - 1) ** 2 + (math.log10(values["y"]) + 1) ** 2)


def inquiry(algorithm: Algorithm, searched: Space = PLANE, **more: Any) -> Inquiry:
    usual: dict[str, Any] = {"objectives": (LOSS,), "settings": {}, "seed": 3, "past": (), "count": 1}
    return Inquiry(space=searched, algorithm=algorithm, **{**usual, **more})


def complete(number: int, values: Mapping[str, Value], *objectives: float, **more: Any) -> PastTrial:
    return PastTrial(number=number, values=values, state=TrialState.COMPLETE, objectives=objectives, **more)


def through_json(asked: Inquiry) -> Inquiry:
    return Inquiry.from_json(json.loads(json.dumps(asked.as_json())))


def search(ask: Ask, asked: Inquiry, trials: int, function: Callable[[Mapping[str, Any]], float] = bowl) -> Inquiry:
    """Ask until there are so many trials, each answer through JSON; the inquiry as it is then."""
    while len(asked.past) < trials:
        said = ask(through_json(asked))
        answer = Answer.from_json(json.loads(json.dumps(said.as_json())))
        if not answer.suggestions:
            break
        made = [
            complete(len(asked.past) + at, each.values, function(each.values), attrs=each.attrs, parent=each.parent)
            for at, each in enumerate(answer.suggestions)
        ]
        asked = replace(asked, past=(*asked.past, *made), study_attrs=answer.study_attrs)
    return asked


def best(searched: Inquiry) -> float:
    return min(trial.objectives[0] for trial in searched.past if trial.objectives)


NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


FEW_VALUES = ("stepped", "int_step", "categorical", "discrete")
MANY_VALUES = ("double", "log", "int", "int_log")


@st.composite
def parameters(draw: st.DrawFn, name: str, kinds: tuple[str, ...] = FEW_VALUES + MANY_VALUES) -> Parameter:
    """A parameter without contradictions, of any of `kinds`."""
    match draw(st.sampled_from(kinds)):
        case "double":
            low = draw(NUMBERS)
            return double(name, low, low + draw(st.floats(1e-3, 1e6)))
        case "log":
            low = draw(st.floats(1e-6, 1e3))
            return double(name, low, low * draw(st.floats(1.1, 1e6)), log=True)
        case "stepped":
            low, step = draw(st.floats(-100, 100)), draw(st.floats(0.01, 1))
            return double(name, low, low + step * draw(st.floats(1, 20)), step=step)
        case "int":
            low = draw(st.integers(-1000, 1000))
            return whole(name, low, low + draw(st.integers(1, 1000)))
        case "int_step":
            low, step = draw(st.integers(-100, 100)), draw(st.integers(1, 7))
            return whole(name, low, low + step * draw(st.integers(1, 9)), step=step)
        case "int_log":
            low = draw(st.integers(1, 50))
            return whole(name, low, low + draw(st.integers(1, 5000)), log=True)
        case "categorical":
            words = draw(st.lists(st.text(max_size=5), min_size=2, max_size=5, unique=True))
            return categorical(name, *words)
        case _:
            return discrete(name, *draw(st.lists(st.integers(-99, 99), min_size=2, max_size=6, unique=True)))


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    """Up to four parameters; each may depend on one before it that has choices."""
    made: list[Parameter] = []
    for at in range(draw(st.integers(1, 4))):
        made.append(draw(dependent(draw(parameters(f"p{at}")), made)))
    return Space(parameters=tuple(made))


@st.composite
def countable_spaces(draw: st.DrawFn, most: int) -> Space:
    """A space of at most `most` points, 21 or more: built up to there, since few drawn at random are so small."""
    made = [draw(parameters("p0", FEW_VALUES))]
    for at in range(1, draw(st.integers(1, 4))):
        more = [*made, draw(dependent(draw(parameters(f"p{at}", FEW_VALUES)), made))]
        if (size(space(*more)) or 0) > most:
            break
        made = more
    return Space(parameters=tuple(made))


@st.composite
def dependent(draw: st.DrawFn, each: Parameter, before: Sequence[Parameter]) -> Parameter:
    """`each` as it is, or under a condition on one of those before it."""
    above = [parent for parent in before if parent.choices]
    if not above or not draw(st.booleans()):
        return each
    parent = draw(st.sampled_from(above))
    values = draw(st.lists(st.sampled_from(parent.choices), min_size=1, max_size=2, unique=True))
    return replace(each, condition=Condition(parameter=parent.name, values=tuple(values)))
