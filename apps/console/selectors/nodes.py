"""Machines as operators see them: what they have, what of it is given out, what runs there."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum

from apps.clusters import selectors as clusters
from apps.clusters.choices import NodeStatus
from apps.clusters.models import Accelerator, Node
from apps.clusters.selectors import UNSEEN_AFTER
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads.models import Attempt, Placement

# A chart shows at most this many points.
MAX_POINTS = 720


@dataclass(frozen=True, slots=True)
class Held:
    """What placements hold on one node: milli-cores, MiB, cards with anything on them, live attempts."""

    cpu_milli: int = 0
    memory_mib: int = 0
    cards: int = 0
    runs: int = 0


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One machine of the list, with what is given out there and whether it was heard from lately."""

    node: Node
    held: Held
    cards: int
    unwell: int
    unseen: bool

    @property
    def status(self) -> str:
        """`stale` when it has not been heard from, whatever it was told to do."""
        return NodeStatus.STALE if self.unseen else self.node.status


def node_rows(actor: Actor, rows: QuerySet[Node] | None = None) -> list[NodeRow]:
    """Every node (or those of `rows`) in a handful of queries, however many there are."""
    found = list(clusters.nodes(actor) if rows is None else rows)
    held, now = held_by_node(), db_now()
    return [row_of(node, held.get(node.pk, Held()), now) for node in found]


def row_of(node: Node, held: Held, now: datetime) -> NodeRow:
    cards = list(node.accelerators.all())
    return NodeRow(
        node=node,
        held=held,
        cards=len(cards),
        unwell=sum(not card.healthy for card in cards),
        unseen=now - node.last_seen_at > UNSEEN_AFTER,
    )


def held_by_node() -> dict[UUID, Held]:
    rows = (
        Placement.objects.filter(released_at__isnull=True)
        .values("node_id")
        .annotate(
            cpu=Sum("cpu_milli"),
            memory=Sum("memory_mib"),
            cards=Count("accelerator_id", distinct=True),
            runs=Count("attempt_id", distinct=True),
        )
    )
    return {row["node_id"]: Held(row["cpu"] or 0, row["memory"] or 0, row["cards"], row["runs"]) for row in rows}


def running_on(node: Node) -> QuerySet[Attempt]:
    """Attempts that hold something of the node, newest first."""
    rows: QuerySet[Attempt] = Attempt.objects.filter(node=node, ended_at__isnull=True)
    rows = rows.select_related("workload__organisation", "workload__owner", "workload__package")
    return rows.prefetch_related("placements__accelerator").order_by("-placed_at")


@dataclass(frozen=True, slots=True)
class Card:
    """An accelerator with the attempts that hold a piece of it."""

    accelerator: Accelerator
    placements: list[Placement]

    @property
    def held_memory_mib(self) -> int:
        return sum(placement.device_memory_mib for placement in self.placements)


def cards_of(node: Node) -> list[Card]:
    held: dict[UUID | None, list[Placement]] = {}
    rows = Placement.objects.filter(node=node, released_at__isnull=True, accelerator__isnull=False)
    for placement in rows.select_related("attempt__workload__organisation"):
        held.setdefault(placement.accelerator_id, []).append(placement)
    return [Card(card, held.get(card.pk, [])) for card in node.accelerators.all()]


def load_points(actor: Actor, node_id: UUID, *, span: timedelta, after: float = 0.0) -> dict[str, list[list[float]]]:
    """Measured load by name: `cpu` (%), `memory` (GiB), `disk` (%), each [[Unix seconds, value], …], oldest first.

    Only points later than `after` (Unix seconds), thinned evenly, the newest always among them.
    """
    # Compared as they are sent: to the millisecond, or the newest point would come again.
    samples = [s for s in clusters.samples(actor, node_id, span=span) if _sent(s.at) > after]
    step = len(samples) // MAX_POINTS + 1
    points: dict[str, list[list[float]]] = {"cpu": [], "memory": [], "disk": []}
    for sample in samples[::-1][::step][::-1]:
        at = _sent(sample.at)
        points["cpu"].append([at, round(sample.cpu_pct, 1)])
        points["memory"].append([at, round(sample.memory_used_mib / 1024, 2)])
        points["disk"].append([at, round(sample.disk_used_pct, 1)])
    return points


def _sent(at: datetime) -> float:
    return round(at.timestamp(), 3)


def counts(now: datetime) -> dict[str, Any]:
    """How many nodes there are, take work, are closed, have gone silent."""
    silent = Q(last_seen_at__lt=now - UNSEEN_AFTER)
    return Node.objects.aggregate(
        total=Count("pk"),
        ready=Count("pk", filter=Q(status=NodeStatus.READY) & ~silent),
        cordoned=Count("pk", filter=Q(status=NodeStatus.CORDONED) & ~silent),
        silent=Count("pk", filter=silent),
    )
