"""The median rule, and Hyperband's, which is to say the same as Optuna's pruner."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import optuna
import pytest

from apps.automl.search.algorithms import Algorithm
from apps.automl.search.early_stopping import EarlyStopping, EarlyStoppingKind, to_prune
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.hyperband import STUDY
from apps.automl.search.inquiry import Inquiry, PastTrial, TrialState
from tests.automl.search.kit import LOSS, inquiry

MEDIAN = EarlyStopping(kind=EarlyStoppingKind.MEDIAN, start_step=3, min_trials=2)
GAIN = Objective(metric="gain", direction=Direction.MAXIMIZE)


def trial(number: int, values: Sequence[float], state: TrialState = TrialState.COMPLETE) -> PastTrial:
    return PastTrial(number=number, values={}, state=state, curve=tuple(enumerate(values, start=1)))


def running(number: int, *values: float) -> PastTrial:
    return trial(number, values, TrialState.RUNNING)


def asked(*past: PastTrial, **more: Any) -> Inquiry:
    return inquiry(Algorithm.RANDOM, past=past, **more)


COMPLETE = (trial(0, [1.0, 0.8, 0.6, 0.4]), trial(1, [1.0, 0.9, 0.8, 0.7]))  # means up to step 3: 0.8 and 0.9


@pytest.mark.parametrize(
    ("values", "stops"),
    [
        ((2.0, 1.9, 1.8), True),
        ((2.0, 1.9), False),
        ((2.0, 1.9, 0.84), False),
        ((0.84, 1.9, 1.9), False),
        ((2.0, 1.9, 0.86), True),
        ((math.nan, math.nan, math.nan), True),
        ((math.nan, math.inf, 0.5), False),
    ],
)
def test_a_trial_worse_than_the_median_stops_once_it_has_reported_enough(
    values: tuple[float, ...], stops: bool
) -> None:
    assert to_prune(asked(*COMPLETE, running(2, *values)), MEDIAN) == ({2} if stops else set())


def test_no_trial_stops_before_enough_are_complete() -> None:
    assert to_prune(asked(COMPLETE[0], running(2, 9.0, 9.0, 9.0)), MEDIAN) == set()


def test_large_values_are_good_where_they_are_sought() -> None:
    both = (running(2, 9.0, 9.0, 9.0), running(3, 0.1, 0.1, 0.1))
    assert to_prune(asked(*COMPLETE, *both, objectives=(GAIN,)), MEDIAN) == {3}


def test_only_running_trials_stop_and_only_where_a_rule_is_chosen() -> None:
    bad = [9.0, 9.0, 9.0]
    ended = (trial(2, bad, TrialState.FAILED), trial(3, bad, TrialState.PRUNED), trial(4, bad))
    assert to_prune(asked(*COMPLETE, *ended), MEDIAN) == set()
    assert to_prune(asked(*COMPLETE, running(2, *bad)), EarlyStopping()) == set()


def test_with_two_objectives_none_stops() -> None:
    assert to_prune(asked(*COMPLETE, running(2, 9.0, 9.0, 9.0), objectives=(LOSS, GAIN)), MEDIAN) == set()


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("limits", [(1, 27, 3), (2, 40, 2), (1, 81, 4)])
def test_hyperband_stops_whom_optunas_pruner_stops(direction: Direction, limits: tuple[int, int, int]) -> None:
    """One trial after the other, each asked at every step, as a program under Optuna does."""
    names = ("min_resource", "max_resource", "reduction_factor")
    settings = dict(zip(names, limits, strict=True))
    pruner = optuna.pruners.HyperbandPruner(**settings)
    study = optuna.create_study(study_name=STUDY, direction=direction.value, pruner=pruner)
    objective = replace(LOSS, direction=direction)
    draw = random.Random(4)
    past: list[PastTrial] = []
    stopped = 0
    for number in range(60):
        theirs, level = study.ask(), draw.random()
        values: list[float] = []
        state = TrialState.COMPLETE
        for step in range(1, limits[1] + 1):
            values.append(level + draw.random() / step)
            theirs.report(values[-1], step)
            now = inquiry(
                Algorithm.HYPERBAND,
                settings=settings,
                objectives=(objective,),
                past=(*past, running(number, *values)),
            )
            stops = to_prune(now, EarlyStopping())
            assert stops == ({number} if theirs.should_prune() else set()), (number, step)
            if stops:
                state, stopped = TrialState.PRUNED, stopped + 1
                break
        past.append(trial(number, values, state))
        study.tell(theirs, None if state is TrialState.PRUNED else values[-1], state=optuna_state(state))
    assert 10 < stopped < 60


def optuna_state(state: TrialState) -> optuna.trial.TrialState:
    return optuna.trial.TrialState.PRUNED if state is TrialState.PRUNED else optuna.trial.TrialState.COMPLETE


def test_a_value_that_is_no_number_at_a_rung_stops() -> None:
    assert to_prune(inquiry(Algorithm.HYPERBAND, past=(running(0, *[math.nan] * 81),)), EarlyStopping()) == {0}


def test_steps_that_go_backwards_are_no_obstacle() -> None:
    curve = ((5, 0.5), (3, 0.4), (5, 0.3))
    back = PastTrial(number=2, values={}, state=TrialState.RUNNING, curve=curve)
    assert to_prune(asked(*COMPLETE, back), MEDIAN) == set()
