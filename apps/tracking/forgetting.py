"""What was tracked goes with its run."""

from uuid import UUID

from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.tracking.merging import hold_merges
from apps.tracking.models import Parameter, PointBatch, PointChunk, Sender, Series, TrackedRun, TrackingTag
from apps.tracking.tracked_runs import RunGone, writing


def forget(*, workload_id: UUID) -> None:
    """For good, with all runs nested inside. Its row stays, so that what still comes from its program is refused."""
    try:
        with writing(workload_id):
            runs = TrackedRun.objects.filter(workload_id=workload_id).order_by("pk").select_for_update()
            ids = [run.pk for run in runs]
            for each in ids:
                hold_merges(each)
            PointBatch.objects.filter(run_id__in=ids).delete()
            PointChunk.objects.filter(series__run_id__in=ids).delete()
            for model in (Series, Parameter, TrackingTag, Sender):
                model.objects.filter(run_id__in=ids).delete()
            TrackedRun.objects.filter(pk__in=ids).update(
                deleted_at=db_now(), series_count=0, point_count=0, inputs=[], name=""
            )
    except (NotFound, RunGone):
        return
