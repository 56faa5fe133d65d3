"""The samplers: as Optuna alone, inside the space, the same for the same question, and better than chance."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import Any

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.automl.search import grid, pbt
from apps.automl.search.algorithms import Algorithm, refusals
from apps.automl.search.early_stopping import EarlyStopping, to_prune
from apps.automl.search.engine import asking, gp
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.hyperband import STUDY
from apps.automl.search.inquiry import Answer, Inquiry, PastTrial, TrialState
from apps.automl.search.space import Condition, Space
from tests.automl.search.kit import (
    LOSS,
    PLANE,
    best,
    bowl,
    categorical,
    complete,
    discrete,
    double,
    inquiry,
    search,
    space,
    spaces,
    whole,
)
from tests.searching import examples

MIXED = space(
    double("x", -5, 5),
    double("y", 1e-3, 10, log=True),
    whole("layers", 1, 9, step=2),
    categorical("optimizer", "sgd", "adam", "ftrl"),
)
# As the process, which listens to no warning of a library.
pytestmark = pytest.mark.filterwarnings("ignore")
NUMBERS = Space(parameters=MIXED.parameters[:3])
BRANCHES = space(
    categorical("optimizer", "sgd", "adam"),
    double("momentum", 0, 1, condition=Condition(parameter="optimizer", values=("sgd",))),
    discrete("batch", 64, 8, 32, 16),
    double("decay", 1e-4, 1, log=True, condition=Condition(parameter="batch", values=(8, 64))),
)
SAMPLERS: dict[Algorithm, Any] = {
    Algorithm.RANDOM: optuna.samplers.RandomSampler,
    Algorithm.TPE: optuna.samplers.TPESampler,
    Algorithm.CMAES: optuna.samplers.CmaEsSampler,
    Algorithm.SOBOL: optuna.samplers.QMCSampler,
}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(level)


def ask(asked: Inquiry) -> Answer:
    """As the process does."""
    return {Algorithm.GP: gp.ask, Algorithm.GRID: grid.ask, Algorithm.PBT: pbt.ask}.get(asked.algorithm, asking.ask)(
        asked
    )


def loss(values: Any) -> float:
    return float(bowl(values) + abs(values["layers"] - 5) + (values.get("optimizer", "adam") != "adam"))


def suggest(trial: optuna.Trial, searched: Space) -> dict[str, Any]:
    values: dict[str, Any] = {
        "x": trial.suggest_float("x", -5, 5),
        "y": trial.suggest_float("y", 1e-3, 10, log=True),
        "layers": trial.suggest_int("layers", 1, 9, step=2),
    }
    if searched is MIXED:
        values["optimizer"] = trial.suggest_categorical("optimizer", ("sgd", "adam", "ftrl"))
    return values


@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_forty_inquiries_ask_for_what_one_study_of_optuna_asks(algorithm: Algorithm) -> None:
    """Each inquiry goes through JSON and begins a study anew: a state that is not kept shows at the next trial."""
    searched = NUMBERS if algorithm is Algorithm.CMAES else MIXED
    ours = search(ask, inquiry(algorithm, searched), 40, loss)
    alone = optuna.create_study(sampler=SAMPLERS[algorithm](seed=3))
    alone.optimize(lambda trial: loss(suggest(trial, searched)), n_trials=40)
    assert [dict(trial.values) for trial in ours.past] == [trial.params for trial in alone.trials]


def test_hyperband_asks_and_stops_as_optuna_does() -> None:
    """Forty trials of up to 27 steps, each asked at every step whether it goes on."""
    resources = {"min_resource": 1, "max_resource": 27, "reduction_factor": 3}
    pruner = optuna.pruners.HyperbandPruner(**resources)
    alone = optuna.create_study(study_name=STUDY, sampler=optuna.samplers.TPESampler(seed=3), pruner=pruner)

    def objective(trial: optuna.Trial) -> float:
        level = loss(suggest(trial, MIXED))
        for step in range(1, 28):
            trial.report(level + 9 / step, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return level

    alone.optimize(objective, n_trials=40)
    asked = inquiry(Algorithm.HYPERBAND, MIXED, settings=resources)
    for number in range(40):
        answer = ask(asked)
        (suggestion,) = answer.suggestions
        trial = PastTrial(number=number, values=suggestion.values, state=TrialState.RUNNING)
        level = loss(trial.values)
        for step in range(1, 28):
            trial = replace(trial, curve=(*trial.curve, (step, level + 9 / step)))
            if to_prune(replace(asked, past=(*asked.past, trial)), EarlyStopping()):
                trial = replace(trial, state=TrialState.PRUNED)
                break
        else:
            trial = replace(trial, state=TrialState.COMPLETE, objectives=(level,))
        asked = replace(asked, past=(*asked.past, trial), study_attrs=answer.study_attrs)
    assert [len(trial.curve) for trial in asked.past] == [len(each.intermediate_values) for each in alone.trials]
    assert [dict(trial.values) for trial in asked.past] == [each.params for each in alone.trials]
    assert {trial.state for trial in asked.past} == {TrialState.COMPLETE, TrialState.PRUNED}


@pytest.mark.parametrize("algorithm", [Algorithm.RANDOM, Algorithm.SOBOL, Algorithm.CMAES, Algorithm.TPE, Algorithm.GP])
def test_the_same_inquiry_has_the_same_answer(algorithm: Algorithm) -> None:
    asked = search(ask, inquiry(algorithm), 12)
    assert ask(asked) == ask(asked)


@pytest.mark.parametrize("algorithm", [Algorithm.RANDOM, Algorithm.TPE, Algorithm.GP, Algorithm.SOBOL])
def test_what_is_asked_at_once_is_spread(algorithm: Algorithm) -> None:
    asked = replace(search(ask, inquiry(algorithm), 15), count=6)
    suggestions = ask(asked).suggestions
    assert len({tuple(each.values.items()) for each in suggestions}) == 6


def test_trials_whose_state_was_not_kept_are_not_drawn_again() -> None:
    """An imported study, or one whose state was lost, goes on with other numbers than it began with."""
    asked = search(ask, inquiry(Algorithm.RANDOM), 5)
    again = ask(replace(asked, study_attrs={}, count=5))
    assert not {each.values["x"] for each in again.suggestions} & {trial.values["x"] for trial in asked.past}


@settings(max_examples=examples(60))
@given(spaces(), st.sampled_from(Algorithm), st.integers(0, 2**40), st.data())
def test_a_suggestion_is_inside_the_space_whatever_became_of_the_others(
    searched: Space, algorithm: Algorithm, seed: int, data: st.DataObject
) -> None:
    if refusals(algorithm, searched, [LOSS]):
        algorithm = Algorithm.TPE
    few = {
        Algorithm.TPE: {"n_startup_trials": 2},
        Algorithm.GP: {"n_startup_trials": 2},
        Algorithm.PBT: {"population": 2},
    }
    asked = inquiry(algorithm, searched, seed=seed, settings=few.get(algorithm, {}), count=2)
    for _ in range(4):
        answer = ask(asked)
        for each in answer.suggestions:
            assert searched.contains(each.values), each
            trial = PastTrial(number=len(asked.past), values=each.values, attrs=each.attrs, state=TrialState.RUNNING)
            asked = replace(asked, past=(*asked.past, ended(trial, data)), study_attrs=answer.study_attrs)


def ended(trial: PastTrial, data: st.DataObject) -> PastTrial:
    state = data.draw(st.sampled_from(TrialState))
    values = st.floats(allow_nan=False, width=32)
    objectives = (data.draw(values),) if state is TrialState.COMPLETE else None
    return replace(trial, state=state, objectives=objectives, curve=((1, data.draw(values)),))


@pytest.mark.parametrize(
    ("algorithm", "worst"),
    [
        (Algorithm.RANDOM, 1.0),
        (Algorithm.SOBOL, 1.0),
        (Algorithm.CMAES, 0.5),
        (Algorithm.TPE, 0.1),
        (Algorithm.HYPERBAND, 0.1),
        (Algorithm.GP, 0.01),
        # It tries fewer places than trials, since most members go on as they were.
        (Algorithm.PBT, 2.0),
    ],
)
def test_forty_trials_find_what_chance_finds_and_who_learns_finds_more(algorithm: Algorithm, worst: float) -> None:
    """Of 40 random points of `PLANE` the best is below 1 in 24 of 25 searches, and below 0.1 in 3 of 10."""
    settings = {"population": 4, "quantile": 0.5} if algorithm is Algorithm.PBT else {}
    found = [best(search(ask, inquiry(algorithm, settings=settings, seed=seed), 40)) for seed in (1, 2, 3)]
    assert median(found) < worst


def test_the_gaussian_process_finds_its_way_in_branches() -> None:
    def function(values: Any) -> float:
        other = abs(values["momentum"] - 0.9) if values["optimizer"] == "sgd" else 1.0
        return float(other + abs(values["batch"] - 32) / 32 + values.get("decay", 0.5))

    searched = search(ask, inquiry(Algorithm.GP, BRANCHES), 30, function)
    assert best(searched) < 0.55
    assert all(BRANCHES.contains(trial.values) for trial in searched.past)


@pytest.mark.parametrize("algorithm", [Algorithm.GP, Algorithm.TPE, Algorithm.RANDOM])
def test_two_objectives_are_searched_along_their_front(algorithm: Algorithm) -> None:
    objectives = (LOSS, Objective(metric="gain", direction=Direction.MAXIMIZE))
    asked = inquiry(algorithm, objectives=objectives)
    for number in range(24):
        answer = ask(asked)
        x, y = (float(answer.suggestions[0].values[name]) for name in ("x", "y"))
        trial = complete(number, {"x": x, "y": y}, x**2, x - y)
        asked = replace(asked, past=(*asked.past, trial), study_attrs=answer.study_attrs)
    assert all(PLANE.contains(trial.values) for trial in asked.past)


def test_a_result_that_is_no_number_is_a_failure_to_a_sampler() -> None:
    past = tuple(complete(number, {"x": 0.5, "y": 1.0}, float("nan")) for number in range(12))
    for algorithm in (Algorithm.TPE, Algorithm.CMAES, Algorithm.GP):
        assert PLANE.contains(ask(inquiry(algorithm, past=past)).suggestions[0].values)


def test_values_from_outside_of_the_space_are_no_obstacle() -> None:
    """Somebody narrowed the bounds after some trials."""
    past = (
        complete(0, {"x": 99.0, "y": 1.0}, 1.0),
        complete(1, {"z": 1.0}, 1.0),
        complete(2, {"x": 1.0, "y": 1.0}, 2.0),
    )
    for algorithm in (Algorithm.TPE, Algorithm.CMAES, Algorithm.GP, Algorithm.SOBOL):
        assert PLANE.contains(ask(inquiry(algorithm, past=past)).suggestions[0].values)
