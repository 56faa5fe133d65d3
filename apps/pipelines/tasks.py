"""The loop of pipelines as a Celery task; it finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.pipelines.reconcile import triggering, turn
from apps.pipelines.starting import ADVANCE


@shared_task(name=ADVANCE)
def advance() -> None:
    """What new versions of datasets start, and a turn of each run that is due."""
    with acting(system_actor()) as actor:
        triggering.start_on_datasets()
        turn.advance_due(actor)
