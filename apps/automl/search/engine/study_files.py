"""Optuna's studies in SQLite files, written and read by Optuna itself.

An uploaded file may be hostile: it is opened only here, in a process with limits, and of a trial only numbers and words
are taken. What samplers noted in it is left, since CMA-ES would unpickle it.
"""

import base64
import math
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
from alembic.util import CommandError
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.exceptions import OptunaError
from optuna.storages import RDBStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial
from sqlalchemy.exc import SQLAlchemyError

from apps.automl.search.engine.study import STATES, distribution, frozen
from apps.automl.search.failures import SearchFailed
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.inquiry import Inquiry, PastTrial, TrialState
from apps.automl.search.space import Json, Parameter, ParameterKind, Space, Value

HEADER = b"SQLite format 3\x00"
MOST_TRIALS = 10_000
OURS = {theirs: ours for ours, theirs in STATES.items()}


def write(inquiry: Inquiry, name: str) -> str:
    """A file with one study of this name, encoded in base64. Its metrics are named as its objectives."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        storage = RDBStorage(f"sqlite:///{path}")
        directions = [StudyDirection[objective.direction.name] for objective in inquiry.objectives]
        study = optuna.create_study(study_name=name, directions=directions, storage=storage)
        study.set_metric_names([objective.metric for objective in inquiry.objectives])
        study.add_trials([_written(trial, inquiry) for trial in inquiry.past])
        storage.remove_session()
        storage.engine.dispose()
        return base64.b64encode(path.read_bytes()).decode()


def _written(trial: PastTrial, inquiry: Inquiry) -> FrozenTrial:
    """The trial with the values that a person reads."""
    made = frozen(trial, inquiry.space, inquiry.objectives)
    made.system_attrs = {}
    made.user_attrs = {"number": trial.number, **({} if trial.parent is None else {"parent": trial.parent})}
    for parameter in inquiry.space.parameters:
        if parameter.name in made.params:
            made.params[parameter.name] = trial.values[parameter.name]
            made.distributions[parameter.name] = _shown(parameter)
    return made


def _shown(parameter: Parameter) -> BaseDistribution:
    """What a person expects of the parameter: choices, and real numbers instead of the numbers of steps."""
    if parameter.kind is ParameterKind.DISCRETE:
        return CategoricalDistribution(parameter.choices)
    if parameter.stepped:
        return FloatDistribution(parameter.low or 0, parameter.high or 0)
    return distribution(parameter)


def read(content: str, name: str | None) -> Json:
    """The study of this name; without a name the only one, or the first.

    Raises `SearchFailed`: `not_a_study`, `no_such_study`, `empty_study`.
    """
    data = base64.b64decode(content)
    if not data.startswith(HEADER):
        raise SearchFailed("not_a_study")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        path.write_bytes(data)
        _refuse_programs(path)
        try:
            return _read(RDBStorage(f"sqlite:///{path}", skip_compatibility_check=True), name)
        except (SQLAlchemyError, OptunaError, CommandError, sqlite3.Error, ValueError, KeyError, RuntimeError) as error:
            raise SearchFailed("not_a_study", str(error)) from error


def _refuse_programs(path: Path) -> None:
    """A study has tables and indices. Triggers and views would run while it is read."""
    connection = sqlite3.connect(path)
    try:
        kinds = {kind for (kind,) in connection.execute("SELECT DISTINCT type FROM sqlite_master")}
    except sqlite3.Error as error:
        raise SearchFailed("not_a_study", str(error)) from error
    finally:
        connection.close()
    if kinds - {"table", "index"}:
        raise SearchFailed("not_a_study", "triggers or views")


def _read(storage: RDBStorage, name: str | None) -> Json:
    if storage.get_current_version() != storage.get_head_version():
        storage.upgrade()
    names = [each.study_name for each in storage.get_all_studies()]
    if not names:
        raise SearchFailed("empty_study")
    if name is not None and name not in names:
        raise SearchFailed("no_such_study")
    study = optuna.load_study(study_name=name or names[0], storage=storage)
    trials = study.get_trials(deepcopy=False)
    space = Space(parameters=tuple(_parameters(trials)))
    if not space.parameters:
        raise SearchFailed("empty_study")
    return {
        "name": study.study_name,
        "names": names,
        "space": space.as_json(),
        "objectives": [objective.as_json() for objective in _objectives(study)],
        "trials": [_past(trial, space).as_json() for trial in trials[:MOST_TRIALS]],
        "left_out": max(len(trials) - MOST_TRIALS, 0),
    }


def _objectives(study: optuna.Study) -> Iterator[Objective]:
    names = study.metric_names or [f"objective_{index}" for index in range(len(study.directions))]
    for name, direction in zip(names, study.directions, strict=True):
        minimize = direction is not StudyDirection.MAXIMIZE
        yield Objective(metric=name, direction=Direction.MINIMIZE if minimize else Direction.MAXIMIZE)


def _parameters(trials: list[FrozenTrial]) -> Iterator[Parameter]:
    """Each parameter with the widest bounds that trials had for it: Optuna lets these change while it searches."""
    found: dict[str, list[BaseDistribution]] = {}
    for trial in trials:
        for name, each in trial.distributions.items():
            kept = found.setdefault(name, [])
            if each not in kept:
                kept.append(each)
    for name, distributions in found.items():
        yield _parameter(name, distributions)


def _parameter(name: str, distributions: list[BaseDistribution]) -> Parameter:
    last = distributions[-1]
    if isinstance(last, CategoricalDistribution):
        alike = [each for each in distributions if isinstance(each, CategoricalDistribution)]
        choices = dict.fromkeys(_word(choice) for each in alike for choice in each.choices)
        return Parameter(name=name, kind=ParameterKind.CATEGORICAL, choices=tuple(choices))
    if not isinstance(last, (FloatDistribution, IntDistribution)):
        raise SearchFailed("not_a_study", f"a distribution of {name}")
    numbers = [each for each in distributions if isinstance(each, (FloatDistribution, IntDistribution))]
    whole = isinstance(last, IntDistribution)
    return Parameter(
        name=name,
        kind=ParameterKind.INT if whole else ParameterKind.DOUBLE,
        low=min(each.low for each in numbers),
        high=max(each.high for each in numbers),
        step=None if last.step is None or (whole and last.step == 1) else last.step,
        log=last.log,
    )


def _word(choice: Any) -> Value:
    """Optuna has a choice of nothing, which here is a word."""
    return "None" if choice is None else choice


def _past(trial: FrozenTrial, space: Space) -> PastTrial:
    """Values as they were, also where they lie outside of what the last bounds let pass."""
    values = {each.name: _word(trial.params[each.name]) for each in space.parameters if each.name in trial.params}
    results = trial.values if trial.state is optuna.trial.TrialState.COMPLETE else None
    return PastTrial(
        number=trial.number,
        values=values,
        # One that waits for its turn has no state here.
        state=OURS.get(trial.state, TrialState.FAILED),
        objectives=tuple(results) if results and not any(map(math.isnan, results)) else None,
        curve=tuple(sorted(trial.intermediate_values.items())),
    )
