"""Telling the platform's staff of machines that have gone silent, and of those that are heard again."""

from datetime import datetime

from django.db import transaction

from apps.clusters.models import Node
from apps.clusters.selectors import UNSEEN_AFTER
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform
from apps.workloads.models import Attempt


def watch(actor: Actor) -> int:
    """Tell of each silence once, and of its end once; how many real nodes are silent."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    now = db_now()
    # What is lost is told of by `lost`, and so is its return.
    real = Node.objects.exclude(cluster__zone__simulated=True).filter(lost_at__isnull=True)
    silent = real.filter(last_seen_at__lt=now - UNSEEN_AFTER)
    for node in silent.filter(silent_since__isnull=True):
        _mark(node, "node.down", node.last_seen_at)
    for node in real.filter(silent_since__isnull=False, last_seen_at__gte=now - UNSEEN_AFTER):
        _mark(node, "node.back", None)
    return silent.count()


def _mark(node: Node, kind: str, since: datetime | None) -> None:
    """Write what is told of the node and tell it, together; nothing where somebody else was first."""
    with transaction.atomic():
        if not Node.objects.filter(pk=node.pk, silent_since=node.silent_since).update(silent_since=since):
            return
        at = since or node.silent_since
        notify_platform(
            permission=Permission.PLATFORM_NODES_MANAGE,
            kind=kind,
            data={
                "node_id": str(node.pk),
                "name": node.name,
                "since": at.isoformat() if at else "",
                "workloads": Attempt.objects.filter(node=node, ended_at__isnull=True).count(),
            },
            dedup=f"{kind}:{node.pk}:{at.timestamp() if at else 0}",
        )
