"""The process of its own: several inquiries at once, its limits, and what stays out of ours."""

import math
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.automl.search.algorithms import Algorithm
from apps.automl.search.early_stopping import EarlyStopping
from apps.automl.search.engine import asking
from apps.automl.search.failures import SearchFailed, TookTooLong
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.inquiry import Answer, Inquiry, TrialState
from apps.automl.search.process import ask, ask_all, importance, landscape, outlook, prune
from apps.automl.search.space import Condition
from tests.automl.search.kit import PLANE, bowl, categorical, complete, double, inquiry, search, space

pytestmark = [pytest.mark.programs, pytest.mark.filterwarnings("ignore")]
ROOT = Path(__file__).parents[3]
GAIN = Objective(metric="gain", direction=Direction.MAXIMIZE, goal=-0.05)


def scattered(trials: int, sign: int = 1, **more: Any) -> Inquiry:
    draw = random.Random(5)
    points = [{"x": draw.uniform(-5, 5), "y": 10 ** draw.uniform(-3, 1)} for _ in range(trials)]
    past = tuple(complete(number, values, sign * bowl(values)) for number, values in enumerate(points))
    return inquiry(Algorithm.TPE, past=past, **more)


def test_one_process_answers_many_and_one_that_fails_spoils_no_other() -> None:
    cmaes = search(asking.ask, inquiry(Algorithm.CMAES), 12)
    broken = replace(scattered(20), settings={"n_ei_candidates": "many"})
    asked = [scattered(20), inquiry(Algorithm.PBT), broken, cmaes, inquiry(Algorithm.GP, count=3)]
    tpe, pbt, failed, own, gp = ask_all(asked)
    assert isinstance(failed, SearchFailed)
    assert (failed.code, "many" in failed.detail or "TypeError" in failed.detail) == ("error", True)
    assert tpe == asking.ask(asked[0])
    # What the process is not given (all but the newest optimizer) makes no difference.
    assert own == asking.ask(cmaes)
    assert [len(each.suggestions) for each in (pbt, gp) if isinstance(each, Answer)] == [1, 3]


def test_a_process_that_takes_too_long_is_ended() -> None:
    with pytest.raises(TookTooLong):
        ask(replace(scattered(400), algorithm=Algorithm.GP, count=2000), time_s=3)


def test_a_failure_has_its_code() -> None:
    with pytest.raises(SearchFailed) as failure:
        importance(scattered(2))
    assert failure.value.code == "few_trials"
    alike = tuple(replace(trial, objectives=(1.0,)) for trial in scattered(9).past)
    with pytest.raises(SearchFailed) as failure:
        importance(replace(scattered(9), past=alike))
    assert failure.value.code == "no_variance"


def test_the_parameter_that_makes_the_difference_is_the_important_one() -> None:
    shares = importance(scattered(60))
    assert list(shares) == ["x", "y"]
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["x"] > 0.8


def test_more_trials_never_make_the_best_worse() -> None:
    seen = outlook(scattered(20), 10)
    assert seen.best == min(trial.objectives[0] for trial in scattered(20).past if trial.objectives)
    assert [len(curve) for curve in (seen.low, seen.middle, seen.high)] == [10, 10, 10]
    assert list(seen.middle) == sorted(seen.middle, reverse=True)
    assert all(
        low <= middle <= high <= seen.best for low, middle, high in zip(seen.low, seen.middle, seen.high, strict=True)
    )
    assert seen.reaches_goal is None
    assert 0 < seen.improves <= 1


def test_an_outlook_on_what_is_maximised_rises() -> None:
    seen = outlook(scattered(20, -1, objectives=(GAIN,)), 10)
    assert list(seen.middle) == sorted(seen.middle)
    assert seen.low[-1] >= seen.best
    assert seen.reaches_goal is not None
    assert 0 <= seen.reaches_goal <= 1


def test_an_outlook_holds_what_then_happens() -> None:
    """Of twelve searches at random, the best after 20 more trials lies between both percentiles in most."""
    inside = 0
    for seed in range(4):
        asked = search(asking.ask, inquiry(Algorithm.RANDOM, seed=seed), 20)
        seen = outlook(asked, 20)
        for other in range(3):
            later = search(asking.ask, replace(asked, study_attrs={}, seed=100 * seed + other), 40)
            found = min(trial.objectives[0] for trial in later.past if trial.objectives)
            inside += seen.low[-1] - 0.2 <= found <= seen.high[-1] + 0.2
    assert inside >= 8


def test_pruning_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", None)
    running = replace(scattered(1).past[0], state=TrialState.RUNNING, objectives=None, curve=((81, float("nan")),))
    assert prune(inquiry(Algorithm.HYPERBAND, past=(running,)), EarlyStopping()) == {0}


def test_who_asks_loads_no_library_of_the_engine() -> None:
    modules = "apps.automl.search.process, apps.automl.search.exchange.katib, apps.automl.search.exchange.optuna_study"
    program = (
        f"import sys, {modules}\n"
        "libraries = {'optuna', 'numpy', 'scipy', 'sklearn', 'django'}\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & libraries))"
    )
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_the_answer_is_inside_the_space_after_a_thousand_trials() -> None:
    assert all(PLANE.contains(each.values) for each in ask(replace(scattered(1000), count=2)).suggestions)


def test_a_landscape_is_lowest_where_the_function_is_and_open_where_a_parameter_is_not() -> None:
    found = landscape(scattered(40), "x", "y")
    assert (len(found.xs), len(found.ys), len(found.spots)) == (24, 24, 40)
    lowest = min(
        (cell or 0.0, found.xs[x], found.ys[y]) for y, row in enumerate(found.cells) for x, cell in enumerate(row)
    )
    assert lowest[1] == pytest.approx(1, abs=0.6)  # type: ignore[comparison-overlap]
    assert math.log10(float(lowest[2])) == pytest.approx(-1, abs=0.6)
    more = landscape(scattered(40, sign=-1, objectives=(GAIN,)), "y", "x")
    highest = max((cell or -99.0, more.ys[y]) for y, row in enumerate(more.cells) for cell in row)
    assert highest[1] == pytest.approx(1, abs=0.6)  # type: ignore[comparison-overlap]
    momentum = double("m", 0, 1, condition=Condition(parameter="opt", values=("sgd",)))
    conditional = space(categorical("opt", "adam", "sgd"), momentum)
    past = [({"opt": "sgd", "m": at / 9}, at) for at in range(9)] + [({"opt": "adam"}, 20)]
    tried = tuple(complete(at, values, loss) for at, (values, loss) in enumerate(past))
    open_ = landscape(inquiry(Algorithm.TPE, conditional, past=tried), "opt", "m")
    assert (open_.xs, len(open_.spots)) == (("adam", "sgd"), 9)
    assert all(row[0] is None and row[1] is not None for row in open_.cells)
    with pytest.raises(SearchFailed):
        landscape(scattered(40), "x", "x")
