"""What contradicts itself in a space, and the points of one that can be counted."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given

from apps.automl.search.space import Condition, Grid, Parameter, ParameterKind, Space, problems, size
from tests.automl.search.kit import categorical, countable_spaces, discrete, double, space, spaces, whole


def when(parameter: str, *values: object) -> Condition:
    return Condition(parameter=parameter, values=values)  # type: ignore[arg-type]


X = double("x", 0, 1)
WRONG = [
    ([], None, "parameters", "missing"),
    ([whole("x", 3, 3)], None, "parameters", "one_point"),
    ([double(f"x{at}", 0, 1) for at in range(51)], None, "parameters", "too_many"),
    ([double("", 0, 1)], 0, "name", "missing"),
    ([double("learning rate", 0, 1)], 0, "name", "bad_name"),
    ([X, X], 1, "name", "duplicate"),
    ([Parameter(name="x", kind=ParameterKind.DOUBLE, high=1)], 0, "low", "missing"),
    ([double("x", math.nan, 1)], 0, "low", "not_finite"),
    ([double("x", 0, math.inf)], 0, "high", "not_finite"),
    ([double("x", -1e301, 1)], 0, "low", "too_large"),
    ([whole("x", 0, 2**60)], 0, "high", "too_large"),
    ([double("x", 2, 1)], 0, "high", "low_above_high"),
    ([Parameter(name="x", kind=ParameterKind.INT, low=0.5, high=3)], 0, "low", "fractional"),
    ([double("x", 0, 1, log=True)], 0, "low", "log_not_positive"),
    ([double("x", 1, 2, log=True, step=0.1)], 0, "step", "with_log"),
    ([double("x", 0, 1, step=2)], 0, "step", "larger_than_range"),
    ([double("x", 0, 1, step=-0.1)], 0, "step", "not_positive"),
    ([double("x", 0, 1, step=math.nan)], 0, "step", "not_finite"),
    ([double("x", 0, 1, step=1e-12)], 0, "step", "too_small"),
    ([whole("x", 0, 9, step=0.5)], 0, "step", "fractional"),
    ([categorical("c")], 0, "choices", "missing"),
    ([categorical("c", *map(str, range(1001)))], 0, "choices", "too_many"),
    ([categorical("c", "a", "b", "a")], 0, "choices", "duplicate"),
    ([categorical("c", 1, True)], 0, "choices", "duplicate"),
    ([categorical("c", "a", "b" * 501)], 0, "choices", "too_long"),
    ([discrete("d", 1, "2")], 0, "choices", "not_a_number"),
    ([discrete("d", 1, math.inf)], 0, "choices", "not_finite"),
    ([replace(X, choices=(1, 2))], 0, "choices", "not_for_kind"),
    ([categorical("c", "a", "b", low=1)], 0, "low", "not_for_kind"),
    ([categorical("c", "a", "b", log=True)], 0, "log", "not_for_kind"),
    ([categorical("c", "a", "b"), replace(X, condition=when("z", "a"))], 1, "condition", "unknown_parameter"),
    ([replace(X, condition=when("c", "a")), categorical("c", "a", "b")], 0, "condition", "later_parameter"),
    ([replace(X, condition=when("x", 1))], 0, "condition", "itself"),
    ([double("y", 0, 1), replace(X, condition=when("y", 1))], 1, "condition", "not_countable"),
    ([categorical("c", "a", "b"), replace(X, condition=when("c"))], 1, "condition", "no_values"),
    ([categorical("c", "a", "b"), replace(X, condition=when("c", "z"))], 1, "condition", "not_a_value"),
    ([whole("n", 1, 5, step=2), replace(X, condition=when("n", 2))], 1, "condition", "not_a_value"),
]


@pytest.mark.parametrize(("parameters", "index", "field", "code"), WRONG)
def test_a_contradiction_is_found_beside_its_field(
    parameters: list[Parameter], index: int | None, field: str, code: str
) -> None:
    assert (index, field, code) in [(each.index, each.field, each.code) for each in problems(parameters)]


def test_parameters_that_depend_on_each_other_in_a_circle_are_refused() -> None:
    one = categorical("a", 1, 2, condition=when("b", 1))
    other = categorical("b", 1, 2, condition=when("a", 1))
    assert [(each.index, each.code) for each in problems([one, other])] == [(0, "later_parameter")]


def test_so_many_conditions_that_points_cannot_be_counted_are_refused() -> None:
    parents = [categorical(f"a{at}", 0, 1) for at in range(20)]
    children = [double(f"b{at}", 0, 1, condition=when(f"a{at}", 0, 1)) for at in range(20)]
    assert [each.code for each in problems([*parents, *children])] == ["too_entangled"]


def test_a_step_as_large_as_the_range_is_not_larger_for_what_binary_fractions_lose() -> None:
    """0.3 - 0.1 is 0.19999999999999998."""
    parameter = double("x", 0.1, 0.3, step=0.2)
    assert problems([parameter]) == []
    assert [Grid(space(parameter)).point(rank)["x"] for rank in range(2)] == [0.1, 0.3]


@given(spaces())
def test_a_space_without_contradictions_has_no_problem_and_passes_through_json(searched: Space) -> None:
    assert problems(searched.parameters) == []
    assert Space.from_json(json.loads(json.dumps(searched.as_json()))) == searched


@given(countable_spaces(most=2000))
def test_each_rank_is_a_point_of_its_own_inside_the_space(searched: Space) -> None:
    points = size(searched)
    grid = Grid(searched)
    found = [grid.point(rank) for rank in range(grid.size)]
    assert len({tuple(sorted(point.items())) for point in found}) == points
    assert all(searched.contains(point) for point in found)


def test_what_is_not_active_makes_no_points() -> None:
    momentum = discrete("momentum", 0.9, 0.5, 0.99, condition=when("optimizer", "sgd"))
    assert size(space(categorical("optimizer", "sgd", "adam", "ftrl"), momentum)) == 3 + 2


def test_a_space_with_a_real_number_has_no_size() -> None:
    assert size(space(whole("n", 1, 9), X)) is None
    assert size(space(whole("n", 1, 9), double("x", 0, 0.3, step=0.1))) == 9 * 4


@pytest.mark.parametrize(
    ("values", "inside"),
    [
        ({"optimizer": "adam"}, True),
        ({"optimizer": "sgd", "momentum": 0.5}, True),
        ({"optimizer": "adam", "momentum": 0.5}, False),
        ({"optimizer": "sgd"}, False),
        ({"optimizer": "sgd", "momentum": 1.5}, False),
        ({"optimizer": "sgd", "momentum": True}, False),
        ({"optimizer": "lamb"}, False),
    ],
)
def test_values_are_inside_where_all_active_parameters_have_one_and_no_other(
    values: dict[str, object], inside: bool
) -> None:
    searched = space(
        categorical("optimizer", "sgd", "adam"), double("momentum", 0, 1, condition=when("optimizer", "sgd"))
    )
    assert searched.contains(values) is inside  # type: ignore[arg-type]
