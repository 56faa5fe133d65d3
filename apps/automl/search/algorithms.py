"""The algorithms, their settings with bounds, and what each of them cannot search."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.automl.search.goals import Objective
from apps.automl.search.space import ParameterKind, Problem, Space, size

MOST_OBJECTIVES = 2
MOST_GRID_POINTS = 10**6


class Algorithm(StrEnum):
    RANDOM = "random"
    GRID = "grid"
    GP = "gp"
    TPE = "tpe"
    CMAES = "cmaes"
    HYPERBAND = "hyperband"
    SOBOL = "sobol"
    PBT = "pbt"


ONE_OBJECTIVE = (Algorithm.CMAES, Algorithm.HYPERBAND, Algorithm.PBT)


class SettingKind(StrEnum):
    INT = "int"
    DOUBLE = "double"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A number that an algorithm asks for, between `low` and `high`. Without a default it may be left open."""

    name: str
    kind: SettingKind
    default: float | None
    low: float
    high: float


def _int(name: str, default: int | None, low: int, high: int) -> Setting:
    return Setting(name=name, kind=SettingKind.INT, default=default, low=low, high=high)


def _double(name: str, default: float, low: float, high: float) -> Setting:
    return Setting(name=name, kind=SettingKind.DOUBLE, default=default, low=low, high=high)


_TPE = (_int("n_startup_trials", 10, 1, 1000), _int("n_ei_candidates", 24, 1, 1000))
SETTINGS: Mapping[Algorithm, tuple[Setting, ...]] = {
    Algorithm.RANDOM: (),
    Algorithm.GRID: (),
    Algorithm.SOBOL: (),
    # Trials by Sobol's sequence before the first fit.
    Algorithm.GP: (_int("n_startup_trials", 10, 1, 1000),),
    Algorithm.TPE: _TPE,
    # `population`: trials of a generation; the algorithm's own rule (4 + 3 ln of the parameters) where it is left open.
    Algorithm.CMAES: (_int("n_startup_trials", 1, 1, 1000), _int("population", None, 2, 1000)),
    # Resources are steps of the curve. Of each `reduction_factor` trials at a rung, one goes on to the next.
    Algorithm.HYPERBAND: (
        _int("min_resource", 1, 1, 10**9),
        _int("max_resource", 81, 2, 10**9),
        _int("reduction_factor", 3, 2, 10),
        *_TPE,
    ),
    # At the end of a generation its worst `quantile` goes on from the best; a value is drawn anew with
    # `resample_probability`, else multiplied by one of the two factors.
    Algorithm.PBT: (
        _int("population", 10, 2, 200),
        _double("quantile", 0.2, 0.01, 0.5),
        _double("resample_probability", 0.25, 0.0, 1.0),
        _double("factor_down", 0.8, 0.1, 1.0),
        _double("factor_up", 1.2, 1.0, 10.0),
    ),
}


def setting(algorithm: Algorithm, settings: Mapping[str, Any], name: str) -> Any:
    """The value of a setting, or its default."""
    given = settings.get(name)
    if given is not None:
        return given
    return next(each.default for each in SETTINGS[algorithm] if each.name == name)


def setting_problems(algorithm: Algorithm, settings: Mapping[str, Any]) -> list[Problem]:
    """Unknown names, wrong kinds, values out of bounds; `field` is the setting's name."""
    known = {each.name: each for each in SETTINGS[algorithm]}
    found = [_problem(name, "unknown_setting") for name in settings if name not in known]
    for name, each in known.items():
        found += _value_problems(each, settings.get(name))
    if not found and algorithm is Algorithm.HYPERBAND:
        low, high = (setting(algorithm, settings, name) for name in ("min_resource", "max_resource"))
        if low >= high:
            found.append(_problem("max_resource", "not_above_min_resource", least=low))
    return found


def _value_problems(each: Setting, value: Any) -> Iterator[Problem]:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        yield _problem(each.name, "not_a_number")
    elif each.kind is SettingKind.INT and not isinstance(value, int):
        yield _problem(each.name, "fractional")
    elif not each.low <= value <= each.high:
        yield _problem(each.name, "out_of_bounds", low=each.low, high=each.high)


def refusals(algorithm: Algorithm, space: Space, objectives: Sequence[Objective]) -> list[Problem]:
    """Why this algorithm cannot search this space for these objectives. The space itself is to be free of problems.

    Codes beside `algorithm`: `grid_infinite` (with the names of such parameters), `grid_too_large`, `categorical`,
    `conditions`, `one_parameter`, `two_objectives`; beside `objectives`: `missing`, `too_many`, `duplicate`.
    """
    found = list(_objective_problems(objectives))
    if len(objectives) > 1 and algorithm in ONE_OBJECTIVE:
        found.append(_problem("algorithm", "two_objectives"))
    if algorithm is Algorithm.GRID:
        found += _grid_refusals(space)
    if algorithm is Algorithm.CMAES:
        found += _cmaes_refusals(space)
    return found


def _objective_problems(objectives: Sequence[Objective]) -> Iterator[Problem]:
    metrics = [objective.metric for objective in objectives]
    if not metrics:
        yield _problem("objectives", "missing")
    elif len(metrics) > MOST_OBJECTIVES:
        yield _problem("objectives", "too_many", most=MOST_OBJECTIVES)
    elif len(set(metrics)) < len(metrics):
        yield _problem("objectives", "duplicate")


def _grid_refusals(space: Space) -> Iterator[Problem]:
    infinite = [parameter.name for parameter in space.parameters if parameter.size() is None]
    if infinite:
        yield _problem("algorithm", "grid_infinite", parameters=infinite)
    elif (points := size(space) or 0) > MOST_GRID_POINTS:
        yield _problem("algorithm", "grid_too_large", points=points, most=MOST_GRID_POINTS)


def _cmaes_refusals(space: Space) -> Iterator[Problem]:
    """It searches by a normal distribution over all parameters at once, and needs an order and a distance in each."""
    parameters = space.parameters
    categorical = [each.name for each in parameters if each.kind is ParameterKind.CATEGORICAL]
    conditional = [each.name for each in parameters if each.condition]
    if categorical:
        yield _problem("algorithm", "categorical", parameters=categorical)
    if conditional:
        yield _problem("algorithm", "conditions", parameters=conditional)
    if sum(each.size() != 1 for each in parameters) < 2:
        yield _problem("algorithm", "one_parameter")


def _problem(field: str, code: str, **params: Any) -> Problem:
    return Problem(index=None, field=field, code=code, params=params)
