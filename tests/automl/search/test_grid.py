"""The grid: each point once, whatever became of its trial."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from apps.automl.search import grid
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.inquiry import PastTrial, TrialState
from apps.automl.search.space import Space, size
from tests.automl.search.kit import countable_spaces, discrete, inquiry, space, through_json, whole

SMALL = space(whole("layers", 1, 4), discrete("batch", 32, 8, 16))


@given(countable_spaces(most=60), st.integers(0, 2**40), st.data())
def test_each_point_is_visited_once_and_then_the_grid_is_exhausted(
    searched: Space, seed: int, data: st.DataObject
) -> None:
    points = size(searched)
    asked = inquiry(Algorithm.GRID, searched, seed=seed)
    visited = []
    for _ in range((points or 0) + 1):
        answer = grid.ask(through_json(replace(asked, count=data.draw(st.integers(1, 5)))))
        visited += [tuple(sorted(each.values.items())) for each in answer.suggestions]
        made = [
            PastTrial(number=len(asked.past) + at, values=each.values, state=data.draw(st.sampled_from(TrialState)))
            for at, each in enumerate(answer.suggestions)
        ]
        asked = replace(asked, past=(*asked.past, *made))
        if answer.exhausted:
            break
    assert len(visited) == len(set(visited)) == points
    last = grid.ask(asked)
    assert (last.suggestions, last.exhausted) == ((), True)


def test_an_answer_that_was_lost_is_given_again() -> None:
    """Whoever dies between the answer and its trials asks the same question once more."""
    asked = inquiry(Algorithm.GRID, SMALL, count=3)
    assert grid.ask(asked) == grid.ask(through_json(asked))


def test_a_point_whose_trial_was_deleted_comes_back() -> None:
    asked = inquiry(Algorithm.GRID, SMALL, count=12)
    made = [
        PastTrial(number=number, values=each.values, state=TrialState.COMPLETE)
        for number, each in enumerate(grid.ask(asked).suggestions)
    ]
    again = grid.ask(replace(asked, past=(*made[:4], *made[5:])))
    assert [each.values for each in again.suggestions] == [made[4].values]
    assert again.exhausted


@given(st.integers(1, 3000), st.integers(0, 2**64))
def test_the_order_has_each_rank_once(points: int, seed: int) -> None:
    assert sorted(grid.scattered(points, seed)) == list(range(points))


def test_the_first_points_are_not_all_in_one_corner() -> None:
    large = space(whole("a", 0, 99), whole("b", 0, 99))
    first = grid.ask(inquiry(Algorithm.GRID, large, count=20)).suggestions
    assert len({each.values["a"] for each in first}) > 10
    assert len({each.values["b"] for each in first}) > 10
