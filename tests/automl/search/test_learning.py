"""A small task of scikit-learn: each algorithm finds settings that are clearly better than the usual ones."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import optuna
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from apps.automl.search import grid
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.engine import asking, gp
from tests.automl.search.kit import Ask, best, double, inquiry, search, space

pytestmark = pytest.mark.filterwarnings("ignore")
MACHINE = space(double("c", -3, 3), double("gamma", -6, 1))
STEPPED = space(double("c", -3, 3, step=1), double("gamma", -6, 1, step=1))
ASK: dict[Algorithm, Ask] = {Algorithm.GP: gp.ask, Algorithm.GRID: grid.ask}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(level)


def error(values: Mapping[str, Any]) -> float:
    return _error(values["c"], values["gamma"])


@cache
def _error(c: float, gamma: float) -> float:
    """The share of wines that a support vector machine with these powers of ten takes for another (of 3 kinds)."""
    features, kinds = load_wine(return_X_y=True)
    return float(1 - cross_val_score(SVC(C=10**c, gamma=10**gamma), features, kinds, cv=3).mean())


@pytest.mark.parametrize(
    "algorithm", [Algorithm.RANDOM, Algorithm.GRID, Algorithm.GP, Algorithm.TPE, Algorithm.CMAES, Algorithm.SOBOL]
)
def test_forty_trials_halve_the_error(algorithm: Algorithm) -> None:
    searched = STEPPED if algorithm is Algorithm.GRID else MACHINE
    found = search(ASK.get(algorithm, asking.ask), inquiry(algorithm, searched), 40, error)
    features, kinds = load_wine(return_X_y=True)
    usual = 1 - cross_val_score(SVC(), features, kinds, cv=3).mean()
    assert len(found.past) == 40
    assert best(found) < usual / 2
