"""What the best model is worth on the rows that no trial saw, and what it looks at."""

from typing import Any

import numpy as np
from sklearn.inspection import permutation_importance
from sklearn.metrics import confusion_matrix

from .predict import apply_steps
from .scoring import OF_TASK, score, scorer
from .settings import Settings
from .table import Table

MOST_ROWS = 2000
"""Of those by which columns are judged: more says the same, later."""
MOST_POINTS = 500
MOST_SHOWN_CLASSES = 30


def scores(model: Any, rows: Table, frame: Any, settings: Settings) -> dict[str, float | None]:
    """By every metric of the task."""
    found = {name: score(name, model, frame, rows.y, len(rows.classes)) for name in OF_TASK[settings.task]}
    return {name: value if np.isfinite(value) else None for name, value in found.items()}


def confusion(model: Any, rows: Table, frame: Any) -> dict[str, Any] | None:
    """Counts by true class, then by what is said; None of too many classes to look at."""
    if not 0 < len(rows.classes) <= MOST_SHOWN_CLASSES:
        return None
    counts = confusion_matrix(rows.y, model.predict(frame), labels=range(len(rows.classes)))
    return {"classes": rows.classes, "counts": counts.tolist()}


def residuals(model: Any, rows: Table, frame: Any, settings: Settings) -> dict[str, Any] | None:
    """True and predicted values of rows drawn by the seed; None of a classification."""
    if rows.classes:
        return None
    said = np.asarray(model.predict(frame), dtype=float).ravel()
    places = np.arange(len(said))
    if len(places) > MOST_POINTS:
        places = np.sort(np.random.default_rng(settings.seed).choice(places, MOST_POINTS, replace=False))
    wrong = said - rows.y
    return {
        "points": [[float(rows.y[each]), float(said[each])] for each in places],
        "mean": float(wrong.mean()),
        "deviation": float(wrong.std()),
        "worst": float(np.abs(wrong).max()),
    }


def importance(
    model: Any, rows: Table, steps: list[dict[str, Any]], settings: Settings, repeats: int
) -> list[dict[str, Any]]:
    """By how much the metric worsens while a column of the table is shuffled, with its parts; the greatest first."""
    places = np.arange(len(rows.y))
    if len(places) > MOST_ROWS:
        places = np.random.default_rng(settings.seed).choice(places, MOST_ROWS, replace=False)
    some = rows.rows(places)
    used = [each["column"] for each in steps if each["do"] != "left_out"]

    def judged(_estimator: Any, x: Any, y: Any) -> float:
        return float(scorer(settings.metric, len(rows.classes))(model, apply_steps(x, steps), y))

    found = permutation_importance(
        model, some.x[used], some.y, scoring=judged, n_repeats=repeats, random_state=settings.seed
    )
    means = np.nan_to_num(found.importances_mean)
    order = np.argsort(-means, kind="stable")
    spreads = np.nan_to_num(found.importances_std)
    return [{"column": used[at], "mean": float(means[at]), "spread": float(spreads[at])} for at in order]
