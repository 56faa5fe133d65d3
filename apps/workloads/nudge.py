"""Wake a loop early. A nudge that is lost costs seconds: the periodic sweeps find the same rows."""

from django.db import transaction

from apps.common import nudges


def schedule() -> None:
    """After commit, ask for a scheduling pass."""
    transaction.on_commit(lambda: nudges.send("workloads.schedule", queue="scheduler"), robust=True)


def reconcile() -> None:
    """After commit, ask for the due attempts to be looked at."""
    transaction.on_commit(lambda: nudges.send("workloads.reconcile", queue="reconcile"), robust=True)


def examine_clusters() -> None:
    """After commit, ask for the clusters to be examined whose operators wait for it."""
    transaction.on_commit(lambda: nudges.send("workloads.examine_clusters", queue="default"), robust=True)


def rate() -> None:
    """After commit, ask for the ended run to be charged, so that its owner sees the cost at once."""
    transaction.on_commit(lambda: nudges.send("billing.rate", queue="default"), robust=True)
