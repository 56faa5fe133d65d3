"""Trials and residuals as the house's charts show them."""

from django.utils.translation import gettext as _

from apps.common import plots
from apps.common.plots import Better, Objective, Parallel, PlotRow, TrialState, axis_of
from apps.tabular.choices import Metric
from apps.tabular.choices import TrialState as State
from apps.tabular.models import TableSearch
from apps.tabular.results import Judgement, Results

LOSSES = frozenset({Metric.LOG_LOSS, Metric.RMSE, Metric.MAE, Metric.MAPE})
_STATES = {State.COMPLETE: TrialState.COMPLETE, State.FAILED: TrialState.FAILED}


def better(search: TableSearch) -> Better:
    return Better.LOW if search.metric in LOSSES else Better.HIGH


def objective_chart(search: TableSearch, results: Results) -> Objective:
    trials = tuple(
        plots.Trial(each.number, _STATES[each.state], each.score, f"#{each.number} {each.learner_label}")
        for each in results.trials
    )
    return Objective(search.metric, better(search), trials)


def residual_chart(judgement: Judgement) -> Parallel:
    """What was true across, what the model says of it up: the better, the nearer to a line."""
    axes = tuple(
        axis_of(key, label, [point[place] for point in judgement.residuals])
        for place, (key, label) in enumerate((("true", _("True value")), ("predicted", _("Predicted value"))))
    )
    rows = tuple(PlotRow(str(at), f"#{at}", point) for at, point in enumerate(judgement.residuals, 1))
    return Parallel(axes, rows, across="true", up="predicted")
