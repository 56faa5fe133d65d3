"""Celery tasks of tracking: points move from batches into chunks."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.tracking import merging
from apps.tracking.collecting.loop import collect_due


@shared_task(name="tracking.merge")
def merge() -> int:
    with acting(system_actor()):
        return merging.merge_due()


@shared_task(name="tracking.collect")
def collect() -> int:
    with acting(system_actor()):
        return collect_due()
