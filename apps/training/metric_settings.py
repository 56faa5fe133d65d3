"""How metrics of training runs are read. One of `settings.METRICS_OF`."""

from collections.abc import Iterable
from uuid import UUID

from apps.tracking.collecting.settings import MetricSettings
from apps.training.models import Run


def settings_of(workload_ids: Iterable[UUID]) -> dict[UUID, MetricSettings]:
    """Of runs that were not deleted, by workload."""
    rows = Run.objects.filter(workload_id__in=list(workload_ids), deleted_at__isnull=True)
    return {pk: MetricSettings.from_json(data) for pk, data in rows.values_list("workload_id", "metric_settings")}
