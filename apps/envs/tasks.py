"""The loops of environments as Celery tasks; each finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.envs.reconcile import idle, preemption_snapshot, stopping
from apps.envs.services import expiry, recycle_bin, shutdown


@shared_task(name="envs.advance")
def advance() -> None:
    with acting(system_actor()) as actor:
        shutdown.sweep(actor)
        preemption_snapshot.save_before_leaving(actor)
        stopping.save_before_stopping(actor)


@shared_task(name="envs.watch")
def watch() -> None:
    with acting(system_actor()) as actor:
        idle.watch_all(actor)


@shared_task(name="envs.sweep")
def sweep() -> None:
    """Work measured in minutes and days: automatic snapshots, expiry, the bin."""
    with acting(system_actor()) as actor:
        idle.snapshot_due(actor)
        expiry.sweep(actor)
        recycle_bin.purge_due(actor)
