"""What an algorithm cannot search, and the bounds of its settings."""

from typing import Any

import pytest

from apps.automl.search.algorithms import SETTINGS, Algorithm, refusals, setting_problems
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.space import Condition, Space
from tests.automl.search.kit import LOSS, PLANE, categorical, double, space, whole

SIZE = Objective(metric="size", direction=Direction.MINIMIZE)
WORDS = space(categorical("optimizer", "sgd", "adam"), whole("layers", 1, 4))
DEPENDENT = space(
    whole("layers", 1, 2), double("a", 0, 1), double("b", 0, 1, condition=Condition(parameter="layers", values=(2,)))
)


@pytest.mark.parametrize("algorithm", Algorithm)
def test_an_ordinary_space_can_be_searched_by_all_but_the_grid(algorithm: Algorithm) -> None:
    codes = [each.code for each in refusals(algorithm, PLANE, [LOSS])]
    assert codes == (["grid_infinite"] if algorithm is Algorithm.GRID else [])


@pytest.mark.parametrize(
    ("algorithm", "searched", "codes"),
    [
        (Algorithm.GRID, WORDS, []),
        (Algorithm.GRID, space(whole("a", 0, 10**4), whole("b", 0, 10**4)), ["grid_too_large"]),
        (Algorithm.CMAES, WORDS, ["categorical", "one_parameter"][:1]),
        (Algorithm.CMAES, DEPENDENT, ["conditions"]),
        (Algorithm.CMAES, space(double("x", 0, 1), whole("n", 3, 3)), ["one_parameter"]),
        (Algorithm.TPE, DEPENDENT, []),
    ],
)
def test_a_space_may_not_suit_an_algorithm(algorithm: Algorithm, searched: Space, codes: list[str]) -> None:
    assert [each.code for each in refusals(algorithm, searched, [LOSS])] == codes


def test_two_objectives_are_not_for_all() -> None:
    refused = {each for each in Algorithm if "two_objectives" in [p.code for p in refusals(each, PLANE, [LOSS, SIZE])]}
    assert refused == {Algorithm.CMAES, Algorithm.HYPERBAND, Algorithm.PBT}


@pytest.mark.parametrize(
    ("objectives", "code"), [([], "missing"), ([LOSS, LOSS], "duplicate"), ([LOSS, SIZE, LOSS], "too_many")]
)
def test_objectives_are_one_or_two_different_ones(objectives: list[Objective], code: str) -> None:
    assert [each.code for each in refusals(Algorithm.RANDOM, PLANE, objectives)] == [code]


@pytest.mark.parametrize(
    ("algorithm", "settings", "wrong"),
    [
        (Algorithm.TPE, {}, []),
        (Algorithm.TPE, {"n_startup_trials": 5}, []),
        (Algorithm.TPE, {"n_startup_trials": 0}, [("n_startup_trials", "out_of_bounds")]),
        (Algorithm.TPE, {"n_startup_trials": 1.5}, [("n_startup_trials", "fractional")]),
        (Algorithm.TPE, {"n_startup_trials": "5"}, [("n_startup_trials", "not_a_number")]),
        (Algorithm.TPE, {"n_startup_trials": True}, [("n_startup_trials", "not_a_number")]),
        (Algorithm.PBT, {"quantile": float("nan")}, [("quantile", "out_of_bounds")]),
        (Algorithm.RANDOM, {"eta": 3}, [("eta", "unknown_setting")]),
        (Algorithm.HYPERBAND, {"min_resource": 9, "max_resource": 9}, [("max_resource", "not_above_min_resource")]),
    ],
)
def test_settings_keep_their_bounds(algorithm: Algorithm, settings: dict[str, Any], wrong: list[Any]) -> None:
    assert [(each.field, each.code) for each in setting_problems(algorithm, settings)] == wrong


def test_each_algorithm_says_its_settings_and_each_default_keeps_its_bounds() -> None:
    assert SETTINGS.keys() == set(Algorithm)
    defaults = [each for settings in SETTINGS.values() for each in settings if each.default is not None]
    assert all(each.low <= each.default <= each.high for each in defaults if each.default is not None)
