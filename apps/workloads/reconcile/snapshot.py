"""From rows to the scheduler's snapshot. Reads everything in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Sum
from django.db.models.functions import Now

import scheduler
from apps.clusters import geometry
from apps.clusters.choices import CLOSED
from apps.clusters.domains import domains
from apps.clusters.models import Accelerator, Node
from apps.clusters.node_rdma import rdma_of
from apps.clusters.node_storage import storage_of
from apps.workloads.choices import PLACED, Status
from apps.workloads.models import Attempt, Placement, SchedulerEpoch, Workload
from apps.workloads.queueing import mix, policy, promises
from apps.workloads.queueing.tasks_of import entitled_tasks, task_of
from apps.workloads.reconcile import gang_networks
from apps.workloads.reconcile.history import Lesson, estimated, estimated_running, learned
from apps.workloads.reconcile.queues import queues
from apps.workloads.simulation_scope import of_world as of_world

# A node that has said nothing for this long takes no new work; what runs on it goes on.
SILENCE = timedelta(seconds=120)
# More ids than this in one query are read as "all".
MANY = 2000


@dataclass(frozen=True, slots=True)
class Live:
    """All of an attempt that may change while it is live, as far as the scheduler cares."""

    attempt: UUID
    workload: UUID
    placed_at: datetime
    started_at: datetime | None
    checkpoint_at: datetime | None
    stopping: bool
    held_for: UUID | None


def take(now: datetime, *, simulated: bool = False) -> scheduler.Snapshot:
    """Nodes, what they hold and what waits, as one pass sees them. Waiting tasks in submission order."""
    lesson, rules = learned(now, simulated=simulated), policy.rules()
    rows = Workload.objects.filter(of_world(simulated), status=Status.QUEUED, queued_at__lte=Now())
    tasks = (task_of(workload, rules.min_runtime_s) for workload in rows.order_by("queued_at", "pk"))
    waiting = tuple(estimated(task, lesson) for task in entitled_tasks(tasks))
    return snapshot_of(
        waiting,
        now,
        nodes=nodes(now, simulated),
        running=running_members(live(simulated), lesson, now, rules.min_runtime_s),
        used=mix.from_json(mix_of_epoch(simulated)).used,
        simulated=simulated,
    )


def snapshot_of(
    waiting: tuple[scheduler.Task, ...],
    now: datetime,
    *,
    nodes: tuple[scheduler.Node, ...],
    running: tuple[scheduler.Running, ...],
    used: scheduler.Mix | None,
    simulated: bool,
) -> scheduler.Snapshot:
    """The snapshot of these nodes and tasks, with queues, promises, and nodes emptied for a task."""
    ids = [task.id for task in waiting]
    return scheduler.Snapshot(
        nodes=nodes,
        running=running,
        waiting=waiting,
        queues=queues(now, simulated=simulated),
        mix=used,
        holds=promises.holds(ids, now),
        promised=promises.promised(ids),
    )


def world_name(simulated: bool) -> str:
    return "simulated" if simulated else "real"


def mix_of_epoch(simulated: bool) -> Any:
    kept = SchedulerEpoch.objects.filter(pk=1).values_list("mix", flat=True).first() or {}
    return kept.get(world_name(simulated), {})


def nodes(now: datetime, simulated: bool) -> tuple[scheduler.Node, ...]:
    """In the order of their ids: ties between nodes go to the first."""
    cards: dict[UUID, list[Accelerator]] = defaultdict(list)
    here = Node.objects.filter(cluster__zone__simulated=simulated).select_related("cluster__zone")
    for card in Accelerator.objects.filter(node__in=here.values("pk")).order_by("node_id", "index"):
        cards[card.node_id].append(card)
    return tuple(
        scheduler.Node(
            id=str(node.pk),
            zone=str(node.cluster.zone_id),
            cluster=str(node.cluster_id),
            cpu_milli=node.allocatable_cpu_milli,
            memory_mib=node.allocatable_memory_mib,
            devices=geometry.devices(cards[node.pk]),
            schedulable=node.status not in CLOSED and not node.quarantine and storage_of(node).present,
            healthy=now - node.last_seen_at < SILENCE and node.lost_at is None,
            arch=node.arch,
            topology=domains(node.labels),
            joined=gang_networks.is_joined(node),
            reserved=node.cluster.reserved,
            rdma=fabric.name,
            rdma_active=fabric.is_active,
        )
        for node in here.order_by("pk")
        for fabric in (rdma_of(node),)
    )


def live(simulated: bool, attempts: Collection[str] | None = None) -> list[Live]:
    """Attempts that hold placements, ordered by id; only `attempts` if given."""
    if attempts is not None and not attempts:
        return []
    rows = Attempt.objects.filter(
        ended_at__isnull=True, workload__status__in=PLACED, node__cluster__zone__simulated=simulated
    ).order_by("pk")
    if attempts is not None:
        rows = rows.filter(**_among("pk", attempts))
    wanted = None if attempts is None else frozenset(attempts)
    return [
        Live(
            attempt,
            workload,
            placed,
            started,
            checkpoint,
            status == Status.STOPPING,
            None if answered else leaves_for,
        )
        for attempt, workload, placed, started, checkpoint, status, leaves_for, answered in rows.values_list(
            "pk",
            "workload_id",
            "placed_at",
            "started_at",
            "checkpoint_at",
            "workload__status",
            "preemption__for_workload_id",
            "preemption__ended_at",
        )
        if wanted is None or str(attempt) in wanted
    ]


def held_slices(simulated: bool) -> tuple[int, int]:
    """How many slices of cards are held, and their milli-cards."""
    rows = Placement.objects.filter(
        released_at__isnull=True, accelerator__isnull=False, node__cluster__zone__simulated=simulated
    ).aggregate(pieces=Count("pk"), milli=Sum("core_milli"))
    return rows["pieces"], rows["milli"] or 0


def running_members(
    rows: Collection[Live], lesson: Lesson, now: datetime, min_runtime_s: float
) -> tuple[scheduler.Running, ...]:
    """The scheduler's view of these attempts."""
    tasks, pieces = _tasks(rows, min_runtime_s), _pieces(rows)
    return tuple(
        scheduler.Running(
            task=_running_task(row, tasks[row.workload], lesson, now),
            attempt_id=str(row.attempt),
            node_id=str(piece.node),
            slices=tuple(piece.slices),
            started_at=(row.started_at or row.placed_at).timestamp(),
            last_checkpoint_at=row.checkpoint_at.timestamp() if row.checkpoint_at else None,
            member=rank,
            held_for=str(row.held_for) if row.held_for else None,
        )
        for row in rows
        if row.workload in tasks
        for rank, piece in sorted(pieces[row.attempt].items())
    )


def _running_task(row: Live, task: scheduler.Task, lesson: Lesson, now: datetime) -> scheduler.Task:
    """A task that is stopping is leaving already, so nobody needs to ask it to give way."""
    task = replace(task, preemptible=False) if row.stopping else task
    return estimated_running(task, lesson, (now - row.placed_at).total_seconds())


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one member holds: its node, and its slices of cards there."""

    node: UUID
    slices: list[scheduler.Slice] = field(default_factory=list)


def _pieces(rows: Collection[Live]) -> dict[UUID, dict[int, _Piece]]:
    """By attempt and rank."""
    pieces: dict[UUID, dict[int, _Piece]] = defaultdict(dict)
    held = Placement.objects.filter(released_at__isnull=True)
    for row in held.filter(**_among("attempt_id", (row.attempt for row in rows))).order_by("pk"):
        piece = pieces[row.attempt_id].setdefault(row.rank, _Piece(row.node_id))
        if row.accelerator_id is not None:
            piece.slices.append(_slice(row))
    return pieces


def _tasks(rows: Collection[Live], min_runtime_s: float) -> dict[UUID, scheduler.Task]:
    here = Workload.objects.filter(status__in=PLACED).filter(**_among("pk", (row.workload for row in rows)))
    return {workload.pk: task_of(workload, min_runtime_s) for workload in here}


def _among(name: str, ids: Iterable[UUID | str]) -> dict[str, list[UUID | str]]:
    found = list(ids)
    return {f"{name}__in": found} if len(found) <= MANY else {}


def _slice(piece: Placement) -> scheduler.Slice:
    return scheduler.Slice(
        device_id=str(piece.accelerator_id),
        memory_mib=piece.device_memory_mib,
        core_milli=piece.core_milli,
        mig_start=piece.mig_start,
        mig_profile=piece.mig_profile or None,
    )
