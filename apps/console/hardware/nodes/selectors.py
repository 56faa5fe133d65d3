"""Machines as operators see them: capacity, what is allocated, what runs there."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.clusters import selectors as clusters
from apps.clusters.choices import CLOSED, NodeStatus
from apps.clusters.models import Accelerator, Node
from apps.clusters.selectors import UNSEEN_AFTER
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.workloads.models import Attempt, Placement
from apps.workloads.programs import with_program_on

# A chart shows at most this many points.
MAX_POINTS = 720


@dataclass(frozen=True, slots=True)
class NodeHoldings:
    """What placements hold on one node: milli-cores, MiB, cards with anything on them, live attempts."""

    cpu_milli: int = 0
    memory_mib: int = 0
    cards: int = 0
    runs: int = 0


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One machine of the list, with what is allocated and whether it was heard from lately."""

    node: Node
    held: NodeHoldings
    cards: int
    unwell: int
    unseen: bool

    @property
    def status(self) -> str:
        """`lost` if it was declared so, `stale` if it is silent, regardless of its own status.

        `quarantined` where the platform gives it no work, and no person has closed it.
        """
        if self.node.lost_at is not None:
            return NodeStatus.LOST
        if self.unseen:
            return NodeStatus.STALE
        ready = self.node.status == NodeStatus.READY
        return NodeStatus.QUARANTINED if ready and self.node.quarantine else self.node.status


def nodes(actor: Actor) -> QuerySet[Node]:
    """Machines with what placements hold of each and how many cards they have; worked out for those that are read."""
    held = Placement.objects.filter(node=OuterRef("pk"), released_at__isnull=True).order_by().values("node")
    cards = Accelerator.objects.filter(node=OuterRef("pk")).order_by().values("node")
    rows: QuerySet[Node] = Node.objects.select_related("cluster__zone")
    actor.require(Permission.PLATFORM_NODES_VIEW)
    return rows.annotate(
        held_cpu=_sub(held.annotate(found=Sum("cpu_milli"))),
        held_memory=_sub(held.annotate(found=Sum("memory_mib"))),
        held_cards=_sub(held.annotate(found=Count("accelerator_id", distinct=True))),
        held_runs=_sub(held.annotate(found=Count("attempt_id", distinct=True))),
        card_count=_sub(cards.annotate(found=Count("pk"))),
        unwell_count=_sub(cards.annotate(found=Count("pk", filter=Q(healthy=False)))),
    )


def _sub(rows: QuerySet[Any]) -> Coalesce:
    return Coalesce(Subquery(rows.values("found"), output_field=BigIntegerField()), 0)


def row_from(node: Any, now: datetime | None = None) -> NodeRow:
    """Convert a row of `nodes` to a row of the list."""
    return NodeRow(
        node=node,
        held=NodeHoldings(node.held_cpu, node.held_memory, node.held_cards, node.held_runs),
        cards=node.card_count,
        unwell=node.unwell_count,
        unseen=(now or timezone.now()) - node.last_seen_at > UNSEEN_AFTER,
    )


def row_of(node: Node, held: NodeHoldings, now: datetime) -> NodeRow:
    cards = list(node.accelerators.all())
    return NodeRow(
        node=node,
        held=held,
        cards=len(cards),
        unwell=sum(not card.healthy for card in cards),
        unseen=now - node.last_seen_at > UNSEEN_AFTER,
    )


def holdings_by_node(*, simulated: bool | None = None) -> dict[UUID, NodeHoldings]:
    """By node; of real or of simulated machines only where told."""
    of_world = {} if simulated is None else {"node__cluster__zone__simulated": simulated}
    rows = (
        Placement.objects.filter(released_at__isnull=True, **of_world)
        .values("node_id")
        .annotate(
            cpu=Sum("cpu_milli"),
            memory=Sum("memory_mib"),
            cards=Count("accelerator_id", distinct=True),
            runs=Count("attempt_id", distinct=True),
        )
    )
    return {
        row["node_id"]: NodeHoldings(row["cpu"] or 0, row["memory"] or 0, row["cards"], row["runs"]) for row in rows
    }


def running_on(node: Node) -> QuerySet[Attempt]:
    """Attempts that hold something of the node, newest first."""
    rows: QuerySet[Attempt] = Attempt.objects.filter(with_program_on(node.pk), ended_at__isnull=True)
    rows = rows.select_related("workload__organisation", "workload__owner", "workload__package")
    return rows.prefetch_related("placements__accelerator").order_by("-placed_at")


def attempts_lost_with(node: Node) -> list[Attempt]:
    """Attempts on a node when it was lost, with what became of their work, newest first."""
    if node.lost_at is None:
        return []
    rows = Attempt.objects.filter(with_program_on(node.pk), given_up_at__gte=node.lost_at)
    return list(rows.select_related("workload__organisation", "workload__owner").order_by("-placed_at"))


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
    """Measured load by name: `memory` in GiB, the others in per cent, each [[Unix seconds, value], …], oldest first.

    Only points later than `after` (Unix seconds), thinned evenly, the newest always among them.
    """
    # Compared as they are sent: to the millisecond, or the newest point would come again.
    samples = [s for s in clusters.samples(actor, node_id, span=span) if _sent(s.at) > after]
    step = len(samples) // MAX_POINTS + 1
    points: dict[str, list[list[float]]] = {"cpu": [], "memory": [], "disk": [], "gpu": [], "gpu-memory": []}
    for sample in samples[::-1][::step][::-1]:
        at = _sent(sample.at)
        points["cpu"].append([at, round(sample.cpu_pct, 1)])
        points["memory"].append([at, round(sample.memory_used_mib / 1024, 2)])
        points["disk"].append([at, round(sample.disk_used_pct, 1)])
        if sample.gpu_pct is not None:
            points["gpu"].append([at, round(sample.gpu_pct, 1)])
        if sample.gpu_memory_pct is not None:
            points["gpu-memory"].append([at, round(sample.gpu_memory_pct, 1)])
    return points


def _sent(at: datetime) -> float:
    return round(at.timestamp(), 3)


def counts(now: datetime) -> dict[str, Any]:
    """How many real nodes there are, take work, are closed, have gone silent; and how many are simulated."""
    silent = Q(last_seen_at__lt=now - UNSEEN_AFTER) | Q(lost_at__isnull=False)
    counted: dict[str, Any] = Node.objects.filter(cluster__zone__simulated=False).aggregate(
        total=Count("pk"),
        ready=Count("pk", filter=Q(status=NodeStatus.READY, quarantine="") & ~silent),
        cordoned=Count("pk", filter=(Q(status__in=CLOSED) | ~Q(quarantine="")) & ~silent),
        silent=Count("pk", filter=silent),
    )
    return counted | {"simulated": Node.objects.filter(cluster__zone__simulated=True).count()}
