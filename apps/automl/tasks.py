"""The loop of experiments as a Celery task; it finds its own work in the database."""

from celery import shared_task

from apps.automl.reconcile import turn
from apps.automl.services import ADVANCE
from apps.common.actor import system_actor
from apps.common.scoping import acting


@shared_task(name=ADVANCE)
def advance() -> None:
    with acting(system_actor()) as actor:
        turn.advance_due(actor)
