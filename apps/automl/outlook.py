"""What the trials so far say: which parameters mattered, how two go together, what more trials would bring and cost.

All but the costs take a second in a process of their own, so answers are kept until another trial has ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.core.cache import cache

from apps.automl import selectors
from apps.automl.choices import LIVE, TrialStatus
from apps.automl.models import Experiment, Trial
from apps.automl.reconcile.asking import inquiry
from apps.automl.search import process
from apps.automl.search.failures import SearchFailed
from apps.automl.search.landscape import Landscape
from apps.automl.search.outlook import MOST_MORE, Outlook
from apps.automl.search.space import Space

KEPT_S = 24 * 3600
LEAST_TRIALS = 5


@dataclass(frozen=True, slots=True)
class Costs:
    """What one more trial takes, by those that ended; None before any did."""

    fen: Decimal
    seconds: float


def importance(experiment: Experiment) -> dict[str, float] | None:
    """The share of each parameter in how results differ; None for too few results, or none that can be told apart."""
    shares: dict[str, float] | None = _kept(
        experiment, "importance", lambda: process.importance(inquiry(experiment, count=0))
    )
    return shares


def outlook(experiment: Experiment, more: int) -> Outlook | None:
    """Quantiles of the best result after so many more trials; None for too few results."""
    asked = min(max(more, 1), MOST_MORE)
    found: Outlook | None = _kept(
        experiment, f"outlook-{asked}", lambda: process.outlook(inquiry(experiment, count=0), asked)
    )
    return found


def landscape(experiment: Experiment, across: str, up: str) -> Landscape | None:
    """The first objective over two parameters; None for too few results, or parameters that it does not have."""
    found: Landscape | None = _kept(
        experiment,
        f"landscape-{'-'.join(str(names(experiment).index(each)) for each in (across, up))}",
        lambda: process.landscape(inquiry(experiment, count=0), across, up),
    )
    return found


def most_important(experiment: Experiment, count: int) -> list[str]:
    """Names of parameters, those first that mattered most, as far as that is known."""
    shares = importance(experiment) or {}
    return sorted(names(experiment), key=lambda name: -shares.get(name, 0.0))[:count]


def names(experiment: Experiment) -> list[str]:
    return [each.name for each in Space.from_json(experiment.parameters).parameters]


def _kept(experiment: Experiment, what: str, find: Any) -> Any:
    numbers = selectors.counts(experiment)
    if numbers.succeeded < LEAST_TRIALS:
        return None
    key = f"automl.{experiment.pk}.{what}.{numbers.created - numbers.live}"
    found = cache.get(key)
    if found is None:
        try:
            found = {"answer": find()}
        except SearchFailed:
            found = {"answer": None}
        cache.set(key, found, KEPT_S)
    return found["answer"]


def costs(trials: Sequence[Trial], spent: dict[Any, Decimal]) -> Costs | None:
    ended = [each for each in trials if each.run is not None and each.status not in LIVE]
    ended = [each for each in ended if each.status in (TrialStatus.SUCCEEDED, TrialStatus.PRUNED)]
    if not ended:
        return None
    seconds = sum((_ran_for(each).total_seconds() for each in ended), 0.0)
    fen = sum((spent.get(each.pk, Decimal(0)) for each in ended), Decimal(0))
    return Costs(fen / len(ended), seconds / len(ended))


def _ran_for(trial: Trial) -> timedelta:
    workload = trial.run.workload if trial.run is not None else None
    if workload is None or workload.started_at is None or workload.ended_at is None:
        return timedelta(0)
    return workload.ended_at - workload.started_at
