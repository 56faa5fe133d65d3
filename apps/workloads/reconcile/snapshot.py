"""From rows to the scheduler's snapshot. Reads everything in a fixed number of queries."""

from collections import defaultdict
from datetime import datetime, timedelta
from uuid import UUID

import scheduler
from apps.clusters.choices import NodeStatus
from apps.clusters.models import Accelerator, Node
from apps.workloads.choices import PLACED, Status
from apps.workloads.models import Attempt, Placement, Workload
from apps.workloads.spec import Gpu, Spec

# A node that has said nothing for this long takes no new work; what runs on it goes on.
SILENCE = timedelta(seconds=120)


def take(now: datetime) -> scheduler.Snapshot:
    """Nodes, what they hold and what waits, as one pass sees them. Waiting tasks in submission order."""
    waiting = Workload.objects.filter(status=Status.QUEUED).order_by("queued_at", "pk")
    return scheduler.Snapshot(
        nodes=_nodes(now), running=_running(), waiting=tuple(task_of(workload) for workload in waiting)
    )


def _nodes(now: datetime) -> tuple[scheduler.Node, ...]:
    cards: dict[UUID, list[scheduler.Device]] = defaultdict(list)
    for card in Accelerator.objects.order_by("node_id", "index"):
        cards[card.node_id].append(_device(card))
    return tuple(
        scheduler.Node(
            id=str(node.pk),
            zone=str(node.cluster.zone_id),
            cluster=str(node.cluster_id),
            cpu_milli=node.allocatable_cpu_milli,
            memory_mib=node.allocatable_memory_mib,
            devices=tuple(cards[node.pk]),
            schedulable=node.status != NodeStatus.CORDONED,
            healthy=now - node.last_seen_at < SILENCE,
            arch=node.arch,
        )
        for node in Node.objects.select_related("cluster").order_by("pk")
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


def _running() -> tuple[scheduler.Running, ...]:
    slices: dict[UUID, list[scheduler.Slice]] = defaultdict(list)
    for piece in Placement.objects.filter(released_at__isnull=True, accelerator__isnull=False).order_by("pk"):
        slices[piece.attempt_id].append(_slice(piece))
    live = (
        Attempt.objects.filter(ended_at__isnull=True, workload__status__in=PLACED)
        .select_related("workload")
        .order_by("pk")
    )
    return tuple(
        scheduler.Running(
            task=task_of(attempt.workload),
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


def task_of(workload: Workload) -> scheduler.Task:
    return make_task(
        workload.frozen_spec,
        id=str(workload.pk),
        organisation=str(workload.organisation_id),
        department=str(workload.department_id or ""),
        user=str(workload.owner_id),
        priority=workload.priority,
        submitted_at=workload.queued_at.timestamp(),
        requeued=workload.attempt_number > 0,
    )


def make_task(
    spec: Spec,
    *,
    id: str,
    organisation: str,
    department: str,
    user: str,
    priority: int,
    submitted_at: float,
    requeued: bool = False,
) -> scheduler.Task:
    """The scheduler's view of a spec; `submitted_at` in seconds since the epoch, on the database's clock."""
    return scheduler.Task(
        id=id,
        organisation=organisation,
        department=department,
        user=user,
        priority=priority,
        submitted_at=submitted_at,
        cpu_milli=spec.cpu_milli,
        memory_mib=spec.memory_mib,
        gpu=_gpu(spec.gpu),
        requeued=requeued,
    )


def _gpu(gpu: Gpu | None) -> scheduler.GpuRequest | None:
    if gpu is None:
        return None
    return scheduler.GpuRequest(
        mode=scheduler.Mode(gpu.mode),
        count=gpu.count,
        model=gpu.model,
        core_milli=gpu.core_milli,
        memory_mib=gpu.memory_mib,
        profile=gpu.profile,
    )
