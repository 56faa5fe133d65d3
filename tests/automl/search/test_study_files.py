"""Optuna's study files: what is written is what Optuna opens, what is read is data alone."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import optuna
import pytest

from apps.automl.search.algorithms import Algorithm
from apps.automl.search.exchange.optuna_study import LARGEST, export_study, import_study
from apps.automl.search.failures import SearchFailed
from apps.automl.search.inquiry import PastTrial, TrialState
from apps.automl.search.space import Condition, Value
from tests.automl.search.kit import categorical, complete, discrete, double, inquiry, space, whole

pytestmark = pytest.mark.programs
SEARCHED = space(
    double("lr", 1e-4, 0.1, log=True),
    whole("layers", 2, 8, step=2),
    categorical("optimizer", "sgd", "adam"),
    discrete("batch", 64, 16, 32),
    double("momentum", 0, 1, condition=Condition(parameter="optimizer", values=("sgd",))),
)
SGD: dict[str, Value] = {"lr": 0.01, "layers": 4, "optimizer": "sgd", "batch": 16, "momentum": 0.5}
ADAM: dict[str, Value] = {"lr": 0.02, "layers": 6, "optimizer": "adam", "batch": 64}
PAST = (
    complete(0, SGD, 0.25, curve=((1, 0.5), (2, 0.25))),
    PastTrial(number=1, values=ADAM, state=TrialState.PRUNED, curve=((1, 0.75),)),
    PastTrial(number=2, values=ADAM, state=TrialState.FAILED),
    PastTrial(number=3, values=ADAM, state=TrialState.RUNNING),
)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(level)


def refused(content: bytes, name: str | None = None) -> str:
    with pytest.raises(SearchFailed) as failure:
        import_study(content, name)
    return failure.value.code


def test_optuna_opens_what_is_exported(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    path.write_bytes(export_study(inquiry(Algorithm.TPE, SEARCHED, past=PAST), "缺陷 07"))
    study = optuna.load_study(study_name="缺陷 07", storage=f"sqlite:///{path}")
    assert study.metric_names == ["loss"]
    assert (study.best_params, study.best_value) == (SGD, 0.25)
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "PRUNED", "FAIL", "RUNNING"]
    assert study.trials[0].intermediate_values == {1: 0.5, 2: 0.25}


def test_what_is_exported_comes_back() -> None:
    read = import_study(export_study(inquiry(Algorithm.TPE, SEARCHED, past=PAST), "defects"))
    assert (read.name, read.names, read.left_out) == ("defects", ("defects",), 0)
    assert read.trials == PAST
    assert [each.metric for each in read.objectives] == ["loss"]
    found = {each.name: each for each in read.space.parameters}
    assert found["lr"] == SEARCHED.parameters[0]
    assert found["layers"] == SEARCHED.parameters[1]
    assert set(found["batch"].choices) == {64, 16, 32}


def test_a_study_of_optuna_is_read_without_what_samplers_noted(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    study = optuna.create_study(
        study_name="two",
        storage=f"sqlite:///{path}",
        sampler=optuna.samplers.CmaEsSampler(seed=1),
        direction="maximize",
    )
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + trial.suggest_int("n", 1, 9), n_trials=12)
    study.enqueue_trial({"x": 0.5})
    read = import_study(path.read_bytes(), "two")
    assert [dict(trial.values) for trial in read.trials[:12]] == [trial.params for trial in study.trials[:12]]
    assert all(not trial.attrs for trial in read.trials)
    assert read.trials[12].state is TrialState.FAILED
    assert read.objectives[0].direction.value == "maximize"


def test_what_is_no_study_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE studies (study_id INTEGER)")
    assert refused(path.read_bytes()) == "not_a_study"
    assert refused(b"PK\x03\x04") == "not_a_study"
    assert refused(b"SQLite format 3\x00" + b"\xff" * 4096) == "not_a_study"
    assert refused(b"x" * (LARGEST + 1)) == "too_large"


def test_a_file_with_programs_in_it_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    path.write_bytes(export_study(inquiry(Algorithm.TPE, SEARCHED, past=PAST), "defects"))
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON studies BEGIN DELETE FROM trials; END")
    assert refused(path.read_bytes()) == "not_a_study"


def test_a_study_that_is_not_there_and_one_without_trials_are_refused() -> None:
    content = export_study(inquiry(Algorithm.TPE, SEARCHED), "empty")
    assert refused(content, "other") == "no_such_study"
    assert refused(content) == "empty_study"
