"""Predict with the model of this folder: CSV in, CSV out.

    python predict.py rows.csv predictions.csv

The columns are found by their names (`signature.json`); others are carried along, a missing one is refused. The file
goes with its model: the search uses the same functions, so that a row is prepared in one way alone.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import skops.io

# What a saved model may hold beside scikit-learn's own classes. Anything else is not loaded: it could run code.
TRUSTED = frozenset(
    {
        "catboost.core.CatBoostClassifier",
        "catboost.core.CatBoostRegressor",
        "collections.OrderedDict",
        "lightgbm.basic.Booster",
        "lightgbm.sklearn.LGBMClassifier",
        "lightgbm.sklearn.LGBMRegressor",
        "numpy.dtype",
        "sklearn._loss.link.Interval",
        "sklearn._loss.link.LogitLink",
        "sklearn._loss.link.MultinomialLogit",
        "sklearn._loss.loss.HalfBinomialLoss",
        "sklearn._loss.loss.HalfMultinomialLoss",
        "sklearn.feature_selection._univariate_selection.f_classif",
        "sklearn.feature_selection._univariate_selection.f_regression",
        "sklearn.tree._tree.Tree",
        "xgboost.core.Booster",
        "xgboost.sklearn.XGBClassifier",
        "xgboost.sklearn.XGBRegressor",
    }
)
DATE_PARTS = ("year", "month", "day", "weekday", "hour")


def apply_steps(frame: pd.DataFrame, steps: list[dict[str, Any]]) -> pd.DataFrame:
    """The columns that the model takes, from a table with the columns of `steps`; see `steps.py` for what they are."""
    made: dict[str, Any] = {}
    for step in steps:
        name = step["column"]
        if step["do"] == "number":
            made[name] = pd.to_numeric(frame[name], errors="coerce").astype("float64")
        elif step["do"] == "truth":
            words = frame[name].map(lambda value: str(value).strip().lower(), na_action="ignore")
            made[name] = words.map({"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}).astype("float64")
        elif step["do"] == "category":
            made[name] = frame[name].map(_word, na_action="ignore").astype(object).where(frame[name].notna(), np.nan)
        elif step["do"] == "date":
            made |= _date_parts(name, frame[name], step["parts"])
    return pd.DataFrame(made, index=frame.index)


def _word(value: Any) -> str:
    """A category is its text: 1 and 1.0 are one, however the file was read."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _date_parts(name: str, column: pd.Series, parts: list[str]) -> dict[str, Any]:
    moments = pd.to_datetime(column, errors="coerce", utc=True, format="mixed")
    found = {
        "year": moments.dt.year,
        "month": moments.dt.month,
        "day": moments.dt.day,
        "weekday": moments.dt.weekday,
        "hour": moments.dt.hour,
        "days": (moments - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1),
    }
    return {f"{name}:{part}": found[part].astype("float64") for part in parts}


def load(folder: Path) -> Any:
    """The model. Raises `SystemExit` for one that holds what a search never writes."""
    data = (folder / "model.skops").read_bytes()
    unknown = set(skops.io.get_untrusted_types(data=data)) - TRUSTED
    if unknown:
        raise SystemExit(f"The model holds classes that are not trusted: {', '.join(sorted(unknown))}")
    return skops.io.loads(data, trusted=sorted(TRUSTED & set(skops.io.get_untrusted_types(data=data))))


def answer(model: Any, frame: pd.DataFrame, signature: dict[str, Any]) -> pd.DataFrame:
    """`prediction`, and of a classification the probability of each class."""
    missing = [each["name"] for each in signature["inputs"] if each["name"] not in frame.columns]
    if missing:
        raise SystemExit(f"Columns are missing: {', '.join(missing)}")
    ready = apply_steps(frame, signature["steps"])
    classes = signature["classes"]
    if not classes:
        return pd.DataFrame({"prediction": np.asarray(model.predict(ready)).ravel()}, index=frame.index)
    chances = np.asarray(model.predict_proba(ready))
    found = {"prediction": [classes[each] for each in chances.argmax(axis=1)]}
    return pd.DataFrame(
        found | {f"probability:{name}": chances[:, place] for place, name in enumerate(classes)}, index=frame.index
    )


def main(source: str, target: str) -> None:
    folder = Path(__file__).resolve().parent
    signature = json.loads((folder / "signature.json").read_text())
    reading = pd.read_parquet if source.endswith((".parquet", ".pq")) else pd.read_csv
    frame = reading(source, **({"sep": "\t"} if source.endswith(".tsv") else {}))
    frame.columns = [str(name).strip() for name in frame.columns]
    pd.concat([frame, answer(load(folder), frame, signature)], axis=1).to_csv(target, index=False)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("Usage: python predict.py rows.csv predictions.csv")
    main(sys.argv[1], sys.argv[2])
