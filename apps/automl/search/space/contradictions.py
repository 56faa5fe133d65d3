"""Every contradiction in a list of parameters, as codes: who asks makes the words.

| field | codes |
|---|---|
| name | `missing`, `bad_name`, `duplicate` |
| low, high | `missing`, `not_finite`, `too_large`, `fractional`, `not_for_kind` |
| low | `log_not_positive` |
| high | `low_above_high` |
| step | `not_finite`, `not_positive`, `fractional`, `larger_than_range`, `too_small`, `with_log`, `not_for_kind` |
| log | `not_for_kind` |
| choices | `missing`, `too_many`, `duplicate`, `not_a_number`, `not_finite`, `too_long`, `not_for_kind` |
| condition | `unknown_parameter`, `later_parameter`, `itself`, `not_countable`, `no_values`, `not_a_value` |
| parameters (index None) | `missing`, `too_many`, `one_point`, `too_entangled` |
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.automl.search.space.parameters import Parameter, ParameterKind, Space, Value, steps
from apps.automl.search.space.points import branches, size

MOST_PARAMETERS = 50
MOST_CHOICES = 1000
MOST_STEPS = 10**9
# Combinations of values that conditions name: points are counted once for each.
MOST_BRANCHES = 20_000
LONGEST_TEXT = 500
LARGEST_INT = 2**53
LARGEST = 1e300
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A contradiction, as a code with what its sentence needs.

    `index` is the parameter's (None: the whole space, or the algorithm), `field` the field beside which it is said.
    """

    index: int | None
    field: str
    code: str
    params: Mapping[str, Any]


Found = Iterator[tuple[str, str, dict[str, Any]]]


def problems(parameters: Sequence[Parameter]) -> list[Problem]:
    """All of them, in the order of the parameters. A space without any can be searched."""
    found = [
        Problem(index=index, field=field, code=code, params=params)
        for index, parameter in enumerate(parameters[:MOST_PARAMETERS])
        for rule in (_name, _bounds, _step, _choices, _condition)
        for field, code, params in rule(parameter, index, parameters)
    ]
    whole = _whole(parameters) if not found else None
    if len(parameters) > MOST_PARAMETERS:
        whole = Problem(index=None, field="parameters", code="too_many", params={"most": MOST_PARAMETERS})
    return [*found, whole] if whole else found


def _whole(parameters: Sequence[Parameter]) -> Problem | None:
    if not parameters:
        return Problem(index=None, field="parameters", code="missing", params={})
    space = Space(parameters=tuple(parameters))
    if branches(space) > MOST_BRANCHES:
        return Problem(index=None, field="parameters", code="too_entangled", params={})
    if size(space) == 1:
        return Problem(index=None, field="parameters", code="one_point", params={})
    return None


def _name(parameter: Parameter, index: int, parameters: Sequence[Parameter]) -> Found:
    if not parameter.name:
        yield "name", "missing", {}
    elif not NAME.fullmatch(parameter.name):
        yield "name", "bad_name", {"name": parameter.name[:100]}
    elif any(before.name == parameter.name for before in parameters[:index]):
        yield "name", "duplicate", {"name": parameter.name}


def _bounds(parameter: Parameter, index: int, parameters: Sequence[Parameter]) -> Found:
    bounds = {"low": parameter.low, "high": parameter.high}
    if not parameter.numbered:
        yield from ((field, "not_for_kind", {}) for field, bound in bounds.items() if bound is not None)
        if parameter.log:
            yield "log", "not_for_kind", {}
        return
    for field, bound in bounds.items():
        if bound is None:
            yield field, "missing", {}
        else:
            yield from _number(field, bound, parameter.kind)
    low, high = parameter.low, parameter.high
    if low is not None and high is not None and low > high:
        yield "high", "low_above_high", {"low": low, "high": high}
    if parameter.log and low is not None and low <= 0:
        yield "low", "log_not_positive", {"low": low}


def _number(field: str, number: float, kind: ParameterKind) -> Found:
    largest = LARGEST_INT if kind is ParameterKind.INT else LARGEST
    if not math.isfinite(number):
        yield field, "not_finite", {}
    elif abs(number) > largest:
        yield field, "too_large", {"largest": largest}
    elif kind is ParameterKind.INT and number != int(number):
        yield field, "fractional", {"number": number}


def _step(parameter: Parameter, index: int, parameters: Sequence[Parameter]) -> Found:
    step = parameter.step
    if step is None:
        return
    if not parameter.numbered:
        yield "step", "not_for_kind", {}
        return
    wrong = list(_number("step", step, parameter.kind))
    if wrong:
        yield from wrong
    elif step <= 0:
        yield "step", "not_positive", {"step": step}
    elif parameter.log and not (parameter.kind is ParameterKind.INT and step == 1):
        yield "step", "with_log", {}
    else:
        yield from _step_in_range(parameter, step)


def _step_in_range(parameter: Parameter, step: float) -> Found:
    low, high = parameter.low, parameter.high
    if low is None or high is None or not low < high or not math.isfinite(high - low):
        return
    if parameter.kind is ParameterKind.DOUBLE and (high - low) / step > MOST_STEPS:
        yield "step", "too_small", {"step": step, "most": MOST_STEPS}
    elif steps(low, high, step) == 0:
        yield "step", "larger_than_range", {"step": step, "range": high - low}


def _choices(parameter: Parameter, index: int, parameters: Sequence[Parameter]) -> Found:
    choices = parameter.choices
    if parameter.numbered:
        if choices:
            yield "choices", "not_for_kind", {}
        return
    if not choices:
        yield "choices", "missing", {}
    elif len(choices) > MOST_CHOICES:
        yield "choices", "too_many", {"most": MOST_CHOICES}
    else:
        discrete = parameter.kind is ParameterKind.DISCRETE
        yield from (("choices", code, {"choice": choice}) for choice in choices for code in _choice(choice, discrete))
        yield from (("choices", "duplicate", {"choice": choice}) for choice in _repeated(choices))


def _choice(choice: Value, discrete: bool) -> Iterator[str]:
    if isinstance(choice, (str, bool)):
        if discrete:
            yield "not_a_number"
        elif isinstance(choice, str) and len(choice) > LONGEST_TEXT:
            yield "too_long"
    elif not math.isfinite(choice):
        yield "not_finite"


def _repeated(choices: Sequence[Value]) -> list[Value]:
    """Choices equal to one before them. 1 and true count as equal: Python, and so every sampler, confounds them."""
    seen: set[Value] = set()
    repeated = []
    for choice in choices:
        if choice in seen:
            repeated.append(choice)
        seen.add(choice)
    return repeated


def _condition(parameter: Parameter, index: int, parameters: Sequence[Parameter]) -> Found:
    """A condition names a parameter before its own, so there are no cycles."""
    condition = parameter.condition
    if condition is None:
        return
    others = {each.name: at for at, each in reversed(list(enumerate(parameters)))}
    at = others.get(condition.parameter)
    params = {"parameter": condition.parameter}
    if condition.parameter == parameter.name:
        yield "condition", "itself", params
    elif at is None:
        yield "condition", "unknown_parameter", params
    elif at > index:
        yield "condition", "later_parameter", params
    elif parameters[at].numbered and parameters[at].spacing is None:
        yield "condition", "not_countable", params
    elif not condition.values:
        yield "condition", "no_values", params
    else:
        wrong = [value for value in condition.values if not _possible(parameters[at], value)]
        yield from (("condition", "not_a_value", {**params, "value": value}) for value in wrong)


def _possible(parameter: Parameter, value: Value) -> bool:
    """Whether the parameter can have this value, as far as its own bounds make sense."""
    low, high = parameter.low, parameter.high
    broken = parameter.numbered and (low is None or high is None or not steps_are_countable(low, high))
    return broken or parameter.contains(value)


def steps_are_countable(low: float, high: float) -> bool:
    return math.isfinite(low) and math.isfinite(high) and steps(low, high, 1) >= 0
