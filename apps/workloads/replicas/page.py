"""The part of a kind's page that shows its replicas: the list, how many are wanted, and the log of one of them."""

from typing import Any

from apps.common.actor import Actor
from apps.workloads.choices import Desired
from apps.workloads.models import ReplicaSet
from apps.workloads.replicas import selectors, services


def context(found: ReplicaSet, asked: str, scale_url: str = "") -> dict[str, Any]:
    """What `workloads/replicas.html` and `workloads/replica_log.html` show.

    `asked`: the number of the replica whose log is wanted, as the address has it; the first one for anything else.
    `scale_url`: where a new number is posted to; empty for who may only look.
    """
    rows = selectors.replicas(found)
    shown = next((row for row in rows if str(row.index) == asked), rows[0] if rows else None)
    return {
        "replica_set": found,
        "replicas": rows,
        "summary": selectors.summary(found),
        "shown_replica": shown,
        "replica_log": f"/ws/logs/{shown.workload.pk}/" if shown else "",
        "scale_url": scale_url if found.desired == Desired.RUNNING else "",
        "most_replicas": services.MOST_REPLICAS,
    }


def scale_posted(actor: Actor, found: ReplicaSet, text: str) -> None:
    """A new number as the form posts it. Raises `Invalid` for what is none, and as `services.scale`."""
    wanted = int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 0
    services.scale(actor, found.pk, wanted)
