"""The learners, the values that are searched for each, and the pipeline around one."""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from flaml import tune
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectPercentile, f_classif, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

Config = Mapping[str, Any]
PACKAGES = {"lightgbm": "lightgbm", "xgboost": "xgboost", "catboost": "catboost"}
NAMES = ("lightgbm", "xgboost", "catboost", "forest", "extra_trees", "linear")
MOST_CATEGORIES = 50
SELECTS_FROM = 8
"""So many columns or more are also tried without those that tell least."""


def available(wanted: tuple[str, ...]) -> list[str]:
    """Those of them whose package is in the runtime, in the house's order."""
    return [name for name in NAMES if name in wanted and find_spec(PACKAGES.get(name, "sklearn"))]


def space(name: str, rows: int, columns: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is searched, and the cheap values that it begins with."""
    most = int(min(2048, max(16, rows)))
    domains: dict[str, Any]
    if name in ("lightgbm", "xgboost"):
        domains = {
            "trees": tune.lograndint(4, most),
            "leaves": tune.lograndint(4, min(512, most)),
            "rate": tune.loguniform(1 / 256, 1.0),
            "least_rows": tune.lograndint(2, 129),
            "columns": tune.uniform(0.3, 1.0),
            "rows": tune.uniform(0.5, 1.0),
            "alpha": tune.loguniform(1 / 1024, 64),
            "lambda": tune.loguniform(1 / 1024, 64),
        }
        cheap = {"trees": 4, "leaves": 4}
    elif name == "catboost":
        domains = {"trees": tune.lograndint(8, most), "depth": tune.randint(3, 10), "rate": tune.loguniform(0.01, 0.5)}
        cheap = {"trees": 8, "depth": 3}
    elif name in ("forest", "extra_trees"):
        domains = {
            "trees": tune.lograndint(4, min(1024, most)),
            "leaves": tune.lograndint(4, min(16384, max(16, most))),
            "columns": tune.uniform(0.1, 1.0),
        }
        cheap = {"trees": 4, "leaves": 4}
    else:
        domains, cheap = {"strength": tune.loguniform(1 / 1024, 1024)}, {}
    if columns >= SELECTS_FROM:
        domains["kept"] = tune.uniform(0.3, 1.0)
    return domains, cheap


def pipeline(name: str, config: Config, steps: list[dict[str, Any]], task: str, seed: int, cpus: int) -> Pipeline:
    """Missing values, encoding and scale, the best columns, and the model: fitted as one, within each fold."""
    is_class = task == "classification"
    parts: list[tuple[str, Any]] = [("columns", _columns(steps, name == "linear"))]
    if float(config.get("kept", 1.0)) < 1.0:
        score = f_classif if is_class else f_regression
        parts.append(("select", SelectPercentile(score, percentile=max(1, round(100 * float(config["kept"]))))))
    return Pipeline([*parts, ("model", _MAKERS[name](config, is_class, seed, cpus))])


def names_of(steps: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Columns of numbers and of categories that the steps make."""
    numbers = [each["column"] for each in steps if each["do"] in ("number", "truth")]
    numbers += [f"{each['column']}:{part}" for each in steps if each["do"] == "date" for part in each["parts"]]
    return numbers, [each["column"] for each in steps if each["do"] == "category"]


def _columns(steps: list[dict[str, Any]], linear: bool) -> ColumnTransformer:
    numbers, categories = names_of(steps)
    median = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    if linear:
        by_number: Any = Pipeline([("missing", median), ("scale", StandardScaler())])
        by_category: Any = OneHotEncoder(
            max_categories=MOST_CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False
        )
    else:
        by_number = median
        by_category = OrdinalEncoder(
            max_categories=MOST_CATEGORIES,
            handle_unknown="use_encoded_value",
            unknown_value=-1,
            encoded_missing_value=-2,
        )
    return ColumnTransformer([("numbers", by_number, numbers), ("categories", by_category, categories)])


def _lightgbm(config: Config, is_class: bool, seed: int, cpus: int) -> Any:
    lightgbm = import_module("lightgbm")
    make = lightgbm.LGBMClassifier if is_class else lightgbm.LGBMRegressor
    return make(
        n_estimators=int(config["trees"]),
        num_leaves=int(config["leaves"]),
        learning_rate=float(config["rate"]),
        min_child_samples=int(config["least_rows"]),
        colsample_bytree=float(config["columns"]),
        subsample=float(config["rows"]),
        subsample_freq=1,
        reg_alpha=float(config["alpha"]),
        reg_lambda=float(config["lambda"]),
        random_state=seed,
        n_jobs=cpus,
        verbose=-1,
    )


def _xgboost(config: Config, is_class: bool, seed: int, cpus: int) -> Any:
    xgboost = import_module("xgboost")
    make = xgboost.XGBClassifier if is_class else xgboost.XGBRegressor
    return make(
        n_estimators=int(config["trees"]),
        max_leaves=int(config["leaves"]),
        max_depth=0,
        grow_policy="lossguide",
        tree_method="hist",
        learning_rate=float(config["rate"]),
        min_child_weight=float(config["least_rows"]) / 8,
        colsample_bytree=float(config["columns"]),
        subsample=float(config["rows"]),
        reg_alpha=float(config["alpha"]),
        reg_lambda=float(config["lambda"]),
        random_state=seed,
        n_jobs=cpus,
    )


def _catboost(config: Config, is_class: bool, seed: int, cpus: int) -> Any:
    catboost = import_module("catboost")
    make = catboost.CatBoostClassifier if is_class else catboost.CatBoostRegressor
    return make(
        iterations=int(config["trees"]),
        depth=int(config["depth"]),
        learning_rate=float(config["rate"]),
        random_seed=seed,
        thread_count=cpus,
        verbose=0,
        allow_writing_files=False,
    )


def _forest(config: Config, is_class: bool, seed: int, cpus: int) -> Any:
    return _trees(RandomForestClassifier if is_class else RandomForestRegressor, config, seed, cpus)


def _extra_trees(config: Config, is_class: bool, seed: int, cpus: int) -> Any:
    return _trees(ExtraTreesClassifier if is_class else ExtraTreesRegressor, config, seed, cpus)


def _trees(make: Any, config: Config, seed: int, cpus: int) -> Any:
    return make(
        n_estimators=int(config["trees"]),
        max_leaf_nodes=int(config["leaves"]),
        max_features=float(config["columns"]),
        random_state=seed,
        n_jobs=cpus,
    )


def _linear(config: Config, is_class: bool, seed: int, cpus: int) -> Any:
    strength = float(config["strength"])
    return LogisticRegression(C=strength, max_iter=1000) if is_class else Ridge(alpha=1 / strength)


_MAKERS: dict[str, Callable[[Config, bool, int, int], Any]] = {
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "catboost": _catboost,
    "forest": _forest,
    "extra_trees": _extra_trees,
    "linear": _linear,
}
