"""From rows to the scheduler's snapshot. Reads everything in a fixed number of queries."""

from collections import defaultdict
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

import scheduler
from apps.clusters.choices import CLOSED
from apps.clusters.models import Accelerator, Node
from apps.workloads.choices import PLACED, Status
from apps.workloads.models import Attempt, Placement, Workload
from apps.workloads.reconcile.history import estimated, learned
from apps.workloads.reconcile.tasks_of import task_of
from scheduler.estimate import History

# A node that has said nothing for this long takes no new work; what runs on it goes on.
SILENCE = timedelta(seconds=120)


def take(now: datetime, *, simulated: bool = False) -> scheduler.Snapshot:
    """Nodes, what they hold and what waits, as one pass sees them. Waiting tasks in submission order.

    Real and simulated hardware are two worlds: neither's work ever waits for, displaces or outweighs the other's.
    """
    history = learned()
    waiting = Workload.objects.filter(of_world(simulated), status=Status.QUEUED).order_by("queued_at", "pk")
    return scheduler.Snapshot(
        nodes=_nodes(now, simulated),
        running=_running(now, history, simulated),
        waiting=tuple(estimated(task_of(workload), history) for workload in waiting),
    )


def of_world(simulated: bool) -> Q:
    """Workloads of the simulated world, or of the real one; those of old have no word about it in their spec."""
    asked = Q(spec__simulated=True)
    return asked if simulated else ~asked


def _nodes(now: datetime, simulated: bool) -> tuple[scheduler.Node, ...]:
    cards: dict[UUID, list[scheduler.Device]] = defaultdict(list)
    here = Node.objects.filter(cluster__zone__simulated=simulated).select_related("cluster")
    for card in Accelerator.objects.filter(node__in=here.values("pk")).order_by("node_id", "index"):
        cards[card.node_id].append(_device(card))
    return tuple(
        scheduler.Node(
            id=str(node.pk),
            zone=str(node.cluster.zone_id),
            cluster=str(node.cluster_id),
            cpu_milli=node.allocatable_cpu_milli,
            memory_mib=node.allocatable_memory_mib,
            devices=tuple(cards[node.pk]),
            schedulable=node.status not in CLOSED,
            healthy=now - node.last_seen_at < SILENCE,
            arch=node.arch,
        )
        for node in here.order_by("pk")
    )


def _device(card: Accelerator) -> scheduler.Device:
    return scheduler.Device(
        id=str(card.pk),
        index=card.index,
        vendor=card.vendor,
        model=card.model,
        memory_mib=card.memory_mib,
        mode=scheduler.Mode(card.mode),
        healthy=card.healthy,
    )


def _running(now: datetime, history: History, simulated: bool) -> tuple[scheduler.Running, ...]:
    slices: dict[UUID, list[scheduler.Slice]] = defaultdict(list)
    for piece in Placement.objects.filter(released_at__isnull=True, accelerator__isnull=False).order_by("pk"):
        slices[piece.attempt_id].append(_slice(piece))
    live = (
        Attempt.objects.filter(
            ended_at__isnull=True, workload__status__in=PLACED, node__cluster__zone__simulated=simulated
        )
        .select_related("workload")
        .order_by("pk")
    )
    return tuple(
        scheduler.Running(
            task=estimated(task_of(attempt.workload), history, (now - attempt.placed_at).total_seconds()),
            attempt_id=str(attempt.pk),
            node_id=str(attempt.node_id),
            slices=tuple(slices[attempt.pk]),
            started_at=(attempt.started_at or attempt.placed_at).timestamp(),
        )
        for attempt in live
    )


def _slice(piece: Placement) -> scheduler.Slice:
    return scheduler.Slice(
        device_id=str(piece.accelerator_id),
        memory_mib=piece.device_memory_mib,
        core_milli=piece.core_milli,
        mig_start=piece.mig_start,
        mig_profile=piece.mig_profile or None,
    )
