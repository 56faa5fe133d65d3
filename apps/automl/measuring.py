"""What a trial reached: read from the metrics of its run, once all of them were read."""

import math
from collections.abc import Sequence
from uuid import UUID

from apps.automl.choices import TrialStatus
from apps.automl.models import Experiment, Trial
from apps.automl.search.goals import MetricStrategy, Objective
from apps.tracking.models import Series
from apps.tracking.selectors import Axis, curves

Curve = tuple[tuple[int, float], ...]
CURVE_POINTS = 100
MOST_SAID = 12


def objectives_of(experiment: Experiment) -> tuple[Objective, ...]:
    return tuple(Objective.from_json(each) for each in experiment.objectives)


def measured(experiment: Experiment, workload_id: UUID) -> tuple[float, ...] | None:
    """One number for each objective; None if one of them was never said, or is no finite number."""
    wanted = objectives_of(experiment)
    rows = {
        row.name: row for row in Series.objects.filter(run_id=workload_id, name__in=[each.metric for each in wanted])
    }
    strategy = MetricStrategy(experiment.strategy)
    found = [value_of(rows[each.metric], strategy) if each.metric in rows else None for each in wanted]
    numbers = [each for each in found if each is not None and math.isfinite(each)]
    return tuple(numbers) if len(numbers) == len(wanted) else None


def said_instead(rows: Sequence[Trial]) -> list[str] | None:
    """The metrics that the last trial said which lacks the one that is searched by; None where none lacks it."""
    lacking = [each for each in rows if each.status == TrialStatus.UNMEASURED and each.run is not None]
    if not lacking or lacking[-1].run is None:
        return None
    names = Series.objects.filter(run_id=lacking[-1].run.workload_id).order_by("name").values_list("name", flat=True)
    return list(names[:MOST_SAID])


def value_of(series: Series, strategy: MetricStrategy) -> float | None:
    """Least and greatest are of finite values; the latest is whatever was said last."""
    by_strategy = {
        MetricStrategy.MIN: series.min_value,
        MetricStrategy.MAX: series.max_value,
        MetricStrategy.LATEST: series.last_value,
    }
    return by_strategy[strategy]


def curves_of(experiment: Experiment, workload_ids: Sequence[UUID]) -> dict[UUID, Curve]:
    """The first objective by step, as it stands, in at most `CURVE_POINTS` points for each run."""
    metric = objectives_of(experiment)[0].metric
    found = curves(workload_ids, [metric], axis=Axis.STEP, points=CURVE_POINTS)
    return {each.workload_id: tuple((int(bucket.x), bucket.last) for bucket in each.buckets) for each in found}
