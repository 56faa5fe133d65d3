"""Metrics, and the parts of the table by which a trial is measured."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, TimeSeriesSplit

from .settings import Settings
from .table import Table, split

# scikit-learn's scorer of each metric, which is always better when it is greater; those with a minus sign are losses.
SCORERS = {
    "roc_auc": "roc_auc",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "f1_macro": "f1_macro",
    "log_loss": "neg_log_loss",
    "r2": "r2",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "mape": "neg_mean_absolute_percentage_error",
}
OF_TASK = {
    "classification": ("roc_auc", "accuracy", "balanced_accuracy", "f1_macro", "log_loss"),
    "regression": ("r2", "rmse", "mae", "mape"),
}


def is_loss(metric: str) -> bool:
    return SCORERS[metric].startswith("neg_")


def scorer(metric: str, classes: int) -> Any:
    return get_scorer("roc_auc_ovr_weighted" if metric == "roc_auc" and classes > 2 else SCORERS[metric])


def score(metric: str, model: Any, x: Any, y: Any, classes: int) -> float:
    """As people read it: a loss is positive. Not a number where these rows do not tell."""
    try:
        value = float(scorer(metric, classes)(model, x, y))
    except ValueError:
        return float("nan")
    return -value if is_loss(metric) else value


def parts_of(table: Table, settings: Settings) -> list[tuple[Any, Any]]:
    """The same for each trial: places to learn from and to measure by."""
    if not settings.folds:
        return [split(table, settings, settings.holdout, settings.seed + 1)]
    return [part for part in _folds(table, settings) if len(part[0]) and len(part[1])]


def _folds(table: Table, settings: Settings) -> Iterator[tuple[Any, Any]]:
    places, folds, seed = np.arange(len(table.y)), settings.folds, settings.seed
    if settings.time:
        yield from TimeSeriesSplit(folds).split(places)
    elif table.groups is not None:
        if table.classes:
            yield from StratifiedGroupKFold(folds, shuffle=True, random_state=seed).split(
                places, table.y, groups=table.groups
            )
        else:
            yield from GroupKFold(folds).split(places, groups=table.groups)
    elif table.classes:
        yield from StratifiedKFold(folds, shuffle=True, random_state=seed).split(places, table.y)
    else:
        yield from KFold(folds, shuffle=True, random_state=seed).split(places)
