"""The search: FLAML's CFO proposes values for each learner, and time goes to the learners that lead.

The learner that leads has the claim of one, the second a half, the third a third: whoever has had least of its claim is
next. So each goes on being tried, and no search is lost to one that began well by chance.
"""

import math
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from flaml import CFO

from . import learners
from .scoring import is_loss, parts_of, score
from .settings import Settings
from .table import Table

WORST = 1e12


@dataclass
class Trial:
    """`score`: the mean over the parts, as people read it; None where it failed. `state`: complete, failed, cut."""

    number: int
    learner: str
    config: dict[str, Any]
    state: str
    score: float | None
    spread: float | None
    seconds: float
    said: str = ""


@dataclass
class Clock:
    """Ends by the budget, or once the platform asks for it."""

    ends_at: float
    asked: bool = False

    def is_over(self) -> bool:
        return self.asked or time.monotonic() >= self.ends_at

    def listen(self) -> None:
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, self._ask)

    def _ask(self, _number: int, _frame: Any) -> None:
        self.asked = True


@dataclass
class Search:
    """`tell` is called after each trial, with whether it leads."""

    settings: Settings
    table: Table
    steps: list[dict[str, Any]]
    frame: Any
    clock: Clock
    tell: Callable[[Trial, bool], None]
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = learners.available(self.settings.learners)
        self.parts = parts_of(self.table, self.settings)
        self.sign = 1.0 if is_loss(self.settings.metric) else -1.0
        self.proposers = {name: self._proposer(name) for name in self.names}

    def _proposer(self, name: str) -> CFO:
        """Begins with the best that an earlier start found."""
        domains, cheap = learners.space(name, len(self.table.y), self.frame.shape[1])
        best = self.best(name)
        known = {"points_to_evaluate": [best.config], "evaluated_rewards": [self._loss(best)]} if best else {}
        return CFO(
            metric="loss", mode="min", space=domains, low_cost_partial_config=cheap, seed=self.settings.seed, **known
        )

    def best(self, learner: str = "") -> Trial | None:
        found = [each for each in self.trials if each.score is not None and (not learner or each.learner == learner)]
        return min(found, key=self._loss, default=None)

    def _loss(self, trial: Trial) -> float:
        return WORST if trial.score is None else self.sign * trial.score

    def run(self) -> None:
        """Until the budget is used, the platform asks, or the most trials are made."""
        most = self.settings.most_trials
        while not self.clock.is_over() and not (most and len(self.trials) >= most):
            name = self._next_learner()
            trial_id = str(len(self.trials))
            config = self.proposers[name].suggest(trial_id)
            if config is None:  # it has converged: a search from another point
                self.proposers[name] = self._proposer(name)
                config = self.proposers[name].suggest(trial_id)
            trial = self._evaluate(name, {key: _plain(value) for key, value in (config or {}).items()})
            if trial.state == "cut":
                return
            leader = self.best()
            self.trials.append(trial)
            result = {"loss": self._loss(trial), "config": config, "time_total_s": trial.seconds}
            self.proposers[name].on_trial_complete(trial_id, result)
            leads = trial.score is not None and (leader is None or self._loss(trial) < self._loss(leader))
            self.tell(trial, leads)

    def _next_learner(self) -> str:
        untried = [name for name in self.names if not any(each.learner == name for each in self.trials)]
        if untried:
            return untried[0]
        order = sorted(self.names, key=lambda name: self._loss(best) if (best := self.best(name)) else WORST)
        spent = {name: sum(each.seconds for each in self.trials if each.learner == name) for name in self.names}
        return min(self.names, key=lambda name: (spent[name] * (1 + order.index(name)), order.index(name)))

    def fitted(self, trial: Trial) -> Any:
        """The trial's pipeline on all rows to learn from."""
        made = self._pipeline(trial.learner, trial.config)
        return _quiet(made.fit, self.frame, self.table.y)

    def _pipeline(self, name: str, config: dict[str, Any]) -> Any:
        return learners.pipeline(name, config, self.steps, self.settings.task, self.settings.seed, self.settings.cpus)

    def _evaluate(self, name: str, config: dict[str, Any]) -> Trial:
        began, scores, number = time.monotonic(), [], len(self.trials) + 1
        said = ""
        for learn, judge in self.parts:
            if self.clock.is_over():
                return Trial(number, name, config, "cut", None, None, time.monotonic() - began)
            try:
                model = _quiet(self._pipeline(name, config).fit, self.frame.iloc[learn], self.table.y[learn])
                scores.append(self._score(model, judge))
            except (ValueError, RuntimeError, MemoryError, ArithmeticError, np.linalg.LinAlgError) as error:
                said = f"{type(error).__name__}: {error}"[:300]
                break
        seconds = time.monotonic() - began
        known = [each for each in scores if math.isfinite(each)]
        if said or not known:
            return Trial(number, name, config, "failed", None, None, seconds, said or "No part gave a number.")
        return Trial(number, name, config, "complete", float(np.mean(known)), float(np.std(known)), seconds)

    def _score(self, model: Any, judge: Any) -> float:
        rows, y = self.frame.iloc[judge], self.table.y[judge]
        return float(_quiet(score, self.settings.metric, model, rows, y, len(self.table.classes)))


def as_json(trials: list[Trial]) -> list[dict[str, Any]]:
    return [asdict(each) for each in trials]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _quiet(call: Callable[..., Any], *arguments: Any) -> Any:
    """Without the warnings of each fold: a log of thousands of them is read by nobody."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*arguments)
