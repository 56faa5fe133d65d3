"""Searches in a process of its own, with limits of time and memory: the libraries that it loads stay in it.

A process costs about a second before it answers, so callers ask for many experiments at once (`ask_all`). What needs
no library (the grid, PBT, who is to be pruned) is answered here.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from apps.automl.search import grid, pbt
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.early_stopping import EarlyStopping, to_prune
from apps.automl.search.failures import SearchFailed, TookTooLong
from apps.automl.search.inquiry import Answer, Inquiry, PastTrial, TrialState
from apps.automl.search.landscape import Landscape
from apps.automl.search.outlook import MOST_MORE, Outlook

# Processor time of one process, whatever it was asked.
TIME_S = 60
MEMORY = 4 * 1024**3
# On a machine that is busy a process takes longer than its processor time.
PATIENCE = 4
_ENGINE = "apps.automl.search.engine"
_ROOT = Path(__file__).resolve().parents[3]
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_HERE = {Algorithm.GRID: grid.ask, Algorithm.PBT: pbt.ask}


def ask(inquiry: Inquiry, *, time_s: int = TIME_S) -> Answer:
    """What to try next. Raises `SearchFailed`, `TookTooLong`."""
    answer = ask_all([inquiry], time_s=time_s)[0]
    if isinstance(answer, SearchFailed):
        raise answer
    return answer


def ask_all(inquiries: Sequence[Inquiry], *, time_s: int = TIME_S) -> list[Answer | SearchFailed]:
    """An answer to each inquiry, or why there is none, all from one process. Raises `TookTooLong`."""
    calls = [
        {"what": "ask", "inquiry": _lean(inquiry).as_json()} for inquiry in inquiries if inquiry.algorithm not in _HERE
    ]
    said = iter(_run(calls, time_s))
    answers: list[Answer | SearchFailed] = []
    for inquiry in inquiries:
        if inquiry.algorithm in _HERE:
            answers.append(_HERE[inquiry.algorithm](inquiry))
        else:
            each = next(said)
            answers.append(each if isinstance(each, SearchFailed) else Answer.from_json(each))
    return answers


def prune(inquiry: Inquiry, early_stopping: EarlyStopping) -> set[int]:
    """The numbers of running trials to stop. Needs no process, so it may be asked at every new value."""
    return to_prune(inquiry, early_stopping)


def importance(inquiry: Inquiry, *, objective: int = 0, time_s: int = TIME_S) -> dict[str, float]:
    """The share of each parameter in the differences between trials, largest first; together they are 1.

    Raises `SearchFailed` (`few_trials`, `no_variance`), `TookTooLong`.
    """
    shares: dict[str, float] = _one("importance", inquiry, time_s, objective=objective)
    return shares


def outlook(inquiry: Inquiry, more: int, *, time_s: int = TIME_S) -> Outlook:
    """What 1 to `more` (at most 200) further trials would bring.

    Raises `SearchFailed` (`few_trials`), `TookTooLong`.
    """
    return Outlook.from_json(_one("outlook", inquiry, time_s, more=min(max(more, 1), MOST_MORE)))


def landscape(inquiry: Inquiry, across: str, up: str, *, time_s: int = TIME_S) -> Landscape:
    """What the results say of two parameters together.

    Raises `SearchFailed` (`few_trials`, `unknown_parameter`), `TookTooLong`.
    """
    return Landscape.from_json(_one("landscape", inquiry, time_s, across=across, up=up))


def call(what: str, *, time_s: int = TIME_S, **arguments: Any) -> Any:
    """The answer of the engine to one call. Raises `SearchFailed`, `TookTooLong`."""
    answer = _run([{"what": what, **arguments}], time_s)[0]
    if isinstance(answer, SearchFailed):
        raise answer
    return answer


def _one(what: str, inquiry: Inquiry, time_s: int, **arguments: Any) -> Any:
    return call(what, time_s=time_s, inquiry=_without_curves(inquiry).as_json(), **arguments)


def _run(calls: Sequence[Mapping[str, Any]], time_s: int) -> list[Any]:
    if not calls:
        return []
    asked = json.dumps({"time_s": time_s, "memory": MEMORY, "calls": calls}).encode()
    environment = {"PYTHONPATH": str(_ROOT), "PYTHONDONTWRITEBYTECODE": "1", **_ONE_THREAD}
    try:
        done = subprocess.run(
            [sys.executable, "-m", _ENGINE],
            input=asked,
            capture_output=True,
            cwd=_ROOT,
            env=environment,
            timeout=time_s * PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TookTooLong from error
    if done.returncode < 0:
        raise TookTooLong
    if done.returncode:
        raise SearchFailed("error", done.stderr.decode(errors="replace")[-2000:])
    return [_said(each) for each in json.loads(done.stdout)]


def _said(each: Mapping[str, Any]) -> Any:
    return each["answer"] if "answer" in each else SearchFailed(each["failed"], each["detail"])


def _lean(inquiry: Inquiry) -> Inquiry:
    """The inquiry without what no sampler looks at, which is most of it after a thousand trials.

    Of a curve that is the last point of a trial that was pruned; of what CMA-ES keeps its newest optimizer.
    """
    complete = (trial for trial in inquiry.past if trial.state is TrialState.COMPLETE)
    with_optimizer = [trial.number for trial in complete if any(_is_optimizer(key) for key in trial.attrs)]
    newest = max(with_optimizer, default=None)
    return replace(inquiry, past=tuple(_lean_trial(trial, trial.number == newest) for trial in inquiry.past))


def _lean_trial(trial: PastTrial, newest: bool) -> PastTrial:
    attrs = {key: value for key, value in trial.attrs.items() if newest or not _is_optimizer(key)}
    return replace(trial, attrs=attrs, curve=trial.curve[-1:] if trial.state is TrialState.PRUNED else ())


def _is_optimizer(key: str) -> bool:
    return key.startswith("cma:optimizer")


def _without_curves(inquiry: Inquiry) -> Inquiry:
    return replace(inquiry, past=tuple(replace(trial, curve=(), attrs={}) for trial in inquiry.past))
