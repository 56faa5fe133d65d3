"""What the search is asked: an experiment and its trials as the package `search` has them."""

from apps.automl import beginning, measuring
from apps.automl.choices import TrialStatus
from apps.automl.models import Experiment, Trial
from apps.automl.search.algorithms import Algorithm
from apps.automl.search.early_stopping import EarlyStopping, EarlyStoppingKind
from apps.automl.search.inquiry import Inquiry, PastTrial, TrialState
from apps.automl.search.space import Space

STATES = {
    TrialStatus.WAITING: TrialState.RUNNING,
    TrialStatus.RUNNING: TrialState.RUNNING,
    TrialStatus.SUCCEEDED: TrialState.COMPLETE,
    TrialStatus.PRUNED: TrialState.PRUNED,
    TrialStatus.FAILED: TrialState.FAILED,
    TrialStatus.UNMEASURED: TrialState.FAILED,
    TrialStatus.STOPPED: TrialState.FAILED,
}


def early_stopping_of(experiment: Experiment) -> EarlyStopping:
    return EarlyStopping.from_json(experiment.early_stopping)


def looks_at_curves(experiment: Experiment) -> bool:
    """Whether trials may be stopped by what they say while they run."""
    stops = early_stopping_of(experiment).kind is not EarlyStoppingKind.NONE
    return stops or experiment.algorithm == Algorithm.HYPERBAND


def inquiry(experiment: Experiment, *, count: int) -> Inquiry:
    """Everything that was tried so far, and how many to try next."""
    return Inquiry(
        space=Space.from_json(experiment.parameters),
        objectives=measuring.objectives_of(experiment),
        algorithm=Algorithm(experiment.algorithm),
        settings=experiment.algorithm_settings,
        seed=experiment.seed,
        past=past(experiment),
        count=count,
        study_attrs=experiment.study_attrs,
    )


def past(experiment: Experiment) -> tuple[PastTrial, ...]:
    """By number, after those that it began with. Curves of running trials are read as they stand, if anybody asks."""
    rows = list(Trial.objects.filter(experiment=experiment).select_related("run", "parent").order_by("number"))
    running = [row.run.workload_id for row in rows if row.run is not None and row.status == TrialStatus.RUNNING]
    live = measuring.curves_of(experiment, running) if running and looks_at_curves(experiment) else {}
    own = tuple(
        PastTrial(
            number=row.number,
            values=row.values,
            state=STATES[TrialStatus(row.status)],
            objectives=None if row.objectives is None else tuple(row.objectives),
            curve=live.get(row.run.workload_id, ()) if row.run and not row.curve else _points(row.curve),
            attrs=row.attrs,
            parent=row.parent.number if row.parent else None,
        )
        for row in rows
    )
    return (*beginning.known(experiment), *own)


def _points(curve: list[list[float]]) -> measuring.Curve:
    return tuple((int(step), value) for step, value in curve)
