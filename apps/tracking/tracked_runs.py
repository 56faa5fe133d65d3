"""The row of a tracked run: made when something is first said of its workload, and locked by who writes."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.common.actor import system_actor
from apps.common.errors import Conflict, NotFound
from apps.common.scoping import acting
from apps.tracking.models import TrackedRun


class RunGone(Conflict):
    """What was tracked of the run was deleted with it."""

    code = "tracking_deleted"


@contextmanager
def writing(run_id: UUID) -> Iterator[TrackedRun]:
    """One transaction that holds the run's lock. Raises `NotFound` for no run, `RunGone` for a deleted one.

    Whoever writes has been admitted before; rows are then reached by their run alone.
    """
    with acting(system_actor()), transaction.atomic():
        run = _locked(run_id)
        if run is None:
            _begin(run_id)
            run = _locked(run_id)
        if run is None:
            raise NotFound
        if run.deleted_at is not None:
            raise RunGone(_("This run was deleted."))
        yield run


def _locked(run_id: UUID) -> TrackedRun | None:
    found: TrackedRun | None = TrackedRun.objects.select_for_update(of=("self",)).filter(pk=run_id).first()
    return found


def _begin(workload_id: UUID) -> None:
    """The row of the workload itself; where another has made it meanwhile, nothing."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO tracking_trackedrun (id, organisation_id, workload_id, started_at)
            SELECT id, organisation_id, id, created_at FROM workloads_workload WHERE id = %s
            ON CONFLICT (id) DO NOTHING
            """,
            [workload_id],
        )
