"""Population based training: generations, who goes on from whom, and where it explores."""

from dataclasses import replace

from apps.automl.search import pbt
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.inquiry import Inquiry, PastTrial, Suggestion, TrialState
from apps.automl.search.space import Condition
from tests.automl.search.kit import PLANE, bowl, categorical, complete, discrete, double, inquiry, space

FIVE = {"population": 5, "quantile": 0.4}


def ran(asked: Inquiry, suggestions: tuple[Suggestion, ...], **more: object) -> Inquiry:
    made = [
        complete(len(asked.past) + at, each.values, bowl(each.values), attrs=each.attrs, parent=each.parent)
        for at, each in enumerate(suggestions)
    ]
    return replace(asked, past=(*asked.past, *made))


def generation(asked: Inquiry) -> Inquiry:
    return ran(asked, pbt.ask(replace(asked, count=5)).suggestions)


def test_a_generation_ends_before_the_next_begins() -> None:
    asked = inquiry(Algorithm.PBT, settings=FIVE, count=8)
    first = pbt.ask(asked)
    assert len(first.suggestions) == 5
    assert not first.exhausted
    after = ran(asked, first.suggestions)
    still = replace(after.past[2], state=TrialState.RUNNING, objectives=None)
    waiting = pbt.ask(replace(after, past=(*after.past[:2], still, *after.past[3:])))
    assert (waiting.suggestions, waiting.exhausted) == ((), False)
    assert len(pbt.ask(after).suggestions) == 5


def test_the_worst_go_on_from_the_best_and_explore_the_others_from_themselves() -> None:
    asked = generation(inquiry(Algorithm.PBT, settings=FIVE, count=5))
    ranked = sorted(asked.past, key=lambda trial: (trial.objectives or (0.0,))[0])
    best, worst = {trial.number for trial in ranked[:2]}, {trial.number for trial in ranked[3:]}
    for member, each in enumerate(pbt.ask(asked).suggestions):
        if member in worst:
            assert each.parent in best
            assert each.values != asked.past[each.parent or 0].values
        else:
            assert (each.parent, each.values) == (member, asked.past[member].values)


def test_asked_one_by_one_it_makes_the_same_generation() -> None:
    asked = generation(inquiry(Algorithm.PBT, settings=FIVE, count=5))
    at_once = pbt.ask(asked).suggestions
    single: list[Suggestion] = []
    growing = replace(asked, count=1)
    for number in range(5):
        (one,) = pbt.ask(growing).suggestions
        single.append(one)
        trial = PastTrial(number=5 + number, values=one.values, state=TrialState.RUNNING, attrs=one.attrs)
        growing = replace(growing, past=(*growing.past, trial))
    assert tuple(single) == at_once


def test_a_member_that_failed_goes_on_from_one_that_did_not() -> None:
    asked = generation(inquiry(Algorithm.PBT, settings={"population": 5, "quantile": 0.2}, count=5))
    ranked = sorted(asked.past, key=lambda trial: (trial.objectives or (0.0,))[0])
    failed = replace(ranked[0], state=TrialState.FAILED, objectives=None)
    past = tuple(failed if trial.number == failed.number else trial for trial in asked.past)
    suggestion = pbt.ask(replace(asked, past=past)).suggestions[failed.number]
    assert suggestion.parent == ranked[1].number


def test_a_generation_that_failed_as_a_whole_begins_anew() -> None:
    asked = generation(inquiry(Algorithm.PBT, settings=FIVE, count=5))
    past = tuple(replace(trial, state=TrialState.FAILED, objectives=None) for trial in asked.past)
    suggestions = pbt.ask(replace(asked, past=past)).suggestions
    assert [each.parent for each in suggestions] == [None] * 5
    assert all(each.values != trial.values for each, trial in zip(suggestions, past, strict=True))


def test_generations_get_better() -> None:
    asked = inquiry(Algorithm.PBT, settings={"population": 5, "quantile": 0.4, "resample_probability": 0.1}, count=5)
    for _ in range(12):
        asked = generation(asked)
    assert min(bowl(trial.values) for trial in asked.past[-5:]) < min(bowl(trial.values) for trial in asked.past[:5])


def test_exploring_stays_inside_and_respects_conditions() -> None:
    searched = space(
        categorical("optimizer", "sgd", "adam"),
        double("momentum", 0.5, 0.99, condition=Condition(parameter="optimizer", values=("sgd",))),
        discrete("batch", 8, 16, 32),
    )
    asked = inquiry(Algorithm.PBT, searched, settings={**FIVE, "resample_probability": 0.5}, count=5)
    for _ in range(10):
        suggestions = pbt.ask(asked).suggestions
        assert all(searched.contains(each.values) for each in suggestions)
        made = [
            complete(len(asked.past) + at, each.values, float(at), attrs=each.attrs)
            for at, each in enumerate(suggestions)
        ]
        asked = replace(asked, past=(*asked.past, *made))


def test_a_plane_is_searched_from_many_places() -> None:
    first = pbt.ask(inquiry(Algorithm.PBT, PLANE, count=5, settings=FIVE)).suggestions
    assert len({each.values["x"] for each in first}) == 5
