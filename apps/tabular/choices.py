"""Closed sets of values of searches on tables. The values are what `program` reads and writes."""

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

RUNTIME = "flaml-tables"
"""Key of the platform's image in which a search runs."""


class Task(models.TextChoices):
    CLASSIFICATION = "classification", _("Classification")
    REGRESSION = "regression", _("Regression")


class Metric(models.TextChoices):
    ROC_AUC = "roc_auc", _("Area under the ROC curve")
    ACCURACY = "accuracy", _("Accuracy")
    BALANCED_ACCURACY = "balanced_accuracy", _("Balanced accuracy")
    F1_MACRO = "f1_macro", _("F1, mean of the classes")
    LOG_LOSS = "log_loss", _("Log loss")
    R2 = "r2", _("R² (share of the variance that is explained)")
    RMSE = "rmse", _("Root mean squared error")
    MAE = "mae", _("Mean absolute error")
    MAPE = "mape", _("Mean absolute percentage error")


METRICS = {
    Task.CLASSIFICATION: (
        Metric.ROC_AUC, Metric.ACCURACY, Metric.BALANCED_ACCURACY, Metric.F1_MACRO, Metric.LOG_LOSS,
    ),
    Task.REGRESSION: (Metric.R2, Metric.RMSE, Metric.MAE, Metric.MAPE),
}  # fmt: skip


class Learner(models.TextChoices):
    """Names of libraries stay as they are."""

    LIGHTGBM = "lightgbm", "LightGBM"
    XGBOOST = "xgboost", "XGBoost"
    CATBOOST = "catboost", "CatBoost"
    FOREST = "forest", _("Random forest")
    EXTRA_TREES = "extra_trees", _("Extra trees")
    LINEAR = "linear", _("Linear model")


class TrialState(models.TextChoices):
    COMPLETE = "complete", pgettext_lazy("trial", "complete")
    FAILED = "failed", pgettext_lazy("trial", "failed")


class Warned(models.TextChoices):
    """What a column's first rows let one expect."""

    EMPTY = "empty", _("Empty: it is left out")
    CONSTANT = "constant", _("The same value everywhere: it is left out")
    ID_LIKE = "id_like", _("Another value in each row, as an id has: it tells nothing about new rows")
    MISSING = "missing", _("More than half of its values are missing")
    MIXED = "mixed", _("Numbers and texts are mixed: the texts become categories")
    LEAKY = "leaky", _("It gives the target away: leave it out if it is not known beforehand")
