"""Wake a loop early. A nudge that is lost costs seconds: the periodic sweeps find the same rows."""

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import KombuError

log = logging.getLogger(__name__)


def schedule() -> None:
    """After commit, ask for a scheduling pass."""
    transaction.on_commit(lambda: _send("workloads.schedule", "scheduler"), robust=True)


def reconcile() -> None:
    """After commit, ask for the due attempts to be looked at."""
    transaction.on_commit(lambda: _send("workloads.reconcile", "reconcile"), robust=True)


def examine_clusters() -> None:
    """After commit, ask for the clusters to be examined whose operators wait for it."""
    transaction.on_commit(lambda: _send("workloads.examine_clusters", "default"), robust=True)


def rate() -> None:
    """After commit, ask for the ended run to be charged, so that its owner sees the cost at once."""
    transaction.on_commit(lambda: _send("billing.rate", "default"), robust=True)


def _send(task: str, queue: str) -> None:
    try:
        current_app.send_task(task, queue=queue, expires=5, retry=False)
    except (KombuError, OSError, RuntimeError):
        log.warning("nudge lost: %s", task)
