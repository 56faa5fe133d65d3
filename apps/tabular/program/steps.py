"""What is done to each column before a model sees it, decided once from the training rows and written down.

Steps are plain JSON, one a column: `number`, `truth`, `category`, `date` (its parts become columns), or `left_out` with
a `why`. `predict.apply_steps` carries them out. Missing values, rare categories and scales are the business of the
model's own pipeline, which learns them within each fold.
"""

from typing import Any

import pandas as pd

NUMBER, TRUTH, CATEGORY, DATE, LEFT_OUT = "number", "truth", "category", "date", "left_out"
# Texts of which nearly each is another say nothing of a row that is new.
MOST_DISTINCT_SHARE = 0.9
LEAST_DISTINCT = 30


def decide(frame: pd.DataFrame, left_out: frozenset[str]) -> list[dict[str, Any]]:
    """A step for each column of the training rows."""
    return [_step(str(name), frame[name], left_out) for name in frame.columns]


def _step(name: str, column: pd.Series, left_out: frozenset[str]) -> dict[str, Any]:
    if name in left_out:
        return {"column": name, "do": LEFT_OUT, "why": "chosen"}
    known = column.dropna()
    missing = round(1 - len(known) / max(1, len(column)), 6)
    if known.empty:
        return {"column": name, "do": LEFT_OUT, "why": "empty"}
    distinct = int(known.nunique())
    if distinct < 2 and missing == 0:
        return {"column": name, "do": LEFT_OUT, "why": "constant"}
    common = {"column": name, "missing": missing, "distinct": distinct}
    if pd.api.types.is_bool_dtype(known):
        return {**common, "do": TRUTH}
    if pd.api.types.is_numeric_dtype(known):
        return {**common, "do": NUMBER}
    return {**common, **_of_texts(known, distinct)}


def _of_texts(known: pd.Series, distinct: int) -> dict[str, Any]:
    words = {str(each).strip().lower() for each in known.unique()[:3]}
    if distinct <= 2 and words <= {"true", "false"}:
        return {"do": TRUTH}
    if pd.api.types.is_datetime64_any_dtype(known) or _are_dates(known):
        return {"do": DATE, "parts": _telling_parts(known)}
    if distinct > LEAST_DISTINCT and distinct > MOST_DISTINCT_SHARE * len(known):
        return {"do": LEFT_OUT, "why": "id_like"}
    return {"do": CATEGORY}


def _are_dates(known: pd.Series) -> bool:
    sample = known.astype(str).head(200)
    if not sample.str.match(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}").all():
        return False
    return bool(pd.to_datetime(sample, errors="coerce", utc=True, format="mixed").notna().mean() > 0.95)


def _telling_parts(known: pd.Series) -> list[str]:
    """Those that differ between rows; the days since 1970 always, for what grows with time."""
    moments = pd.to_datetime(known, errors="coerce", utc=True, format="mixed").dropna()
    parts = {name: getattr(moments.dt, name) for name in ("year", "month", "day", "weekday", "hour")}
    return ["days", *(name for name, values in parts.items() if values.nunique() > 1)]
