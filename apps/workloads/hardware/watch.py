"""Telling the platform's staff of machines that are silent, without storage or nearly full, and of the end of it."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.clusters.models import Node
from apps.clusters.node_storage import probe_of, storage_of
from apps.clusters.selectors import UNSEEN_AFTER
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform
from apps.workloads.hardware import holding


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


# A disk of which as much is taken is nearly full, and has room again only well below.
DISK_LOW, DISK_OK = 0.9, 0.85


def watch_disks(actor: Actor) -> int:
    """Tell of each disk that is nearly full once, and once when it has room again; how many are nearly full."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    found = 0
    for node in Node.objects.exclude(cluster__zone__simulated=True):
        is_low = node.disk_used >= (DISK_LOW if node.disk_low_since is None else DISK_OK)
        found += is_low
        if is_low != (node.disk_low_since is not None):
            _tell_of_disk(node, db_now() if is_low else None)
    return found


def _tell_of_disk(node: Node, since: datetime | None) -> None:
    kind, at = ("node.disk_low", since) if since else ("node.disk_ok", node.disk_low_since)
    with transaction.atomic():
        if not Node.objects.filter(pk=node.pk, disk_low_since=node.disk_low_since).update(disk_low_since=since):
            return
        notify_platform(
            permission=Permission.PLATFORM_NODES_MANAGE,
            kind=kind,
            data={"node_id": str(node.pk), "name": node.name, "free_mib": node.disk_free_mib},
            dedup=f"{kind}:{node.pk}:{at.timestamp() if at else 0}",
        )


def watch_storage(actor: Actor) -> int:
    """Tell of each node once that can no more use the platform's files, and once when it can again; how many cannot."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    found = 0
    for node in Node.objects.exclude(cluster__zone__simulated=True).filter(silent_since__isnull=True):
        is_lost = not storage_of(node).present
        found += is_lost
        if is_lost != (node.storage_lost_since is not None):
            _tell_of_storage(node, db_now() if is_lost else None)
    return found


def _tell_of_storage(node: Node, since: datetime | None) -> None:
    kind, at = ("node.storage_lost", since) if since else ("node.storage_back", node.storage_lost_since)
    probe = probe_of(node)
    with transaction.atomic():
        known = Node.objects.filter(pk=node.pk, storage_lost_since=node.storage_lost_since)
        if not known.update(storage_lost_since=since):
            return
        notify_platform(
            permission=Permission.PLATFORM_NODES_MANAGE,
            kind=kind,
            data={
                "node_id": str(node.pk),
                "name": node.name,
                "problem": (probe.problem or "") if probe else "",
                "workloads": holding.attempts_on_node(node.pk).count(),
            },
            dedup=f"{kind}:{node.pk}:{at.timestamp() if at else 0}",
        )


def _mark(node: Node, kind: str, since: datetime | None) -> None:
    """Write what is told of the node and tell it, together; nothing where somebody else was first."""
    with transaction.atomic():
        # Back, it is asked anew what it reaches.
        more: dict[str, Any] = {} if since else {"software_sources": {}}
        if not Node.objects.filter(pk=node.pk, silent_since=node.silent_since).update(silent_since=since, **more):
            return
        at = since or node.silent_since
        notify_platform(
            permission=Permission.PLATFORM_NODES_MANAGE,
            kind=kind,
            data={
                "node_id": str(node.pk),
                "name": node.name,
                "since": at.isoformat() if at else "",
                "workloads": holding.attempts_on_node(node.pk).count(),
            },
            dedup=f"{kind}:{node.pk}:{at.timestamp() if at else 0}",
        )
