"""Runs inside of a run, as MLflow's `start_run(nested=True)` begins them."""

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _

from apps.common.errors import NotFound
from apps.tracking.choices import RunStatus
from apps.tracking.models import TrackedRun
from apps.tracking.points import LONGEST_NAME, LimitReached
from apps.tracking.states import set_status
from apps.tracking.tracked_runs import writing

MOST_NESTED = 2_000


def begin(*, workload_id: UUID, parent_id: UUID | None, name: str, started_at: datetime) -> TrackedRun:
    """A run nested in the workload's own, or in one nested there; raises `NotFound` for a parent elsewhere."""
    with writing(workload_id) as root:
        family = TrackedRun.objects.filter(workload_id=workload_id)
        if family.count() > MOST_NESTED:
            raise LimitReached(_("A run keeps at most %(most)s runs inside of it.") % {"most": MOST_NESTED})
        parent = root if parent_id is None else family.filter(pk=parent_id).first()
        if parent is None:
            raise NotFound
        made: TrackedRun = TrackedRun.objects.create(
            organisation_id=root.organisation_id,
            workload_id=workload_id,
            parent=parent,
            name=name[:LONGEST_NAME],
            started_at=started_at,
        )
        return made


def update(*, run_id: UUID, name: str | None, status: RunStatus | None, ended_at: datetime | None) -> None:
    with writing(run_id) as run:
        if name is not None:
            TrackedRun.objects.filter(pk=run.pk).update(name=name[:LONGEST_NAME])
        if status is not None:
            set_status(run, status, ended_at)
