"""Keeping simulated machines alive: their heartbeat, and the figures of cards that do not exist."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext as _

from apps.audit.services import record
from apps.clusters import services as clusters
from apps.clusters.models import Accelerator, Node, NodeSample, Zone
from apps.clusters.services import locked_node, target
from apps.clusters.services.discovery import KEEP_SAMPLES
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict
from apps.workloads.drivers.base import Isolation
from apps.workloads.drivers.simulated import figures
from apps.workloads.models import Placement
from apps.workloads.nodes import simulated_driver

IDLE_CPU_PCT, IDLE_MEMORY_PCT, DISK_PCT = 2.0, 3.0, 50.0


@dataclass(frozen=True, slots=True)
class Taken:
    """What placements hold of one card: thousandths of it, and MiB."""

    core_milli: int = 0
    memory_mib: int = 0


def isolation() -> Isolation:
    """Of the machine on which simulated work really runs. Raises CannotSee."""
    return simulated_driver().isolation()


def add_zone(actor: Actor) -> Zone:
    """A zone of hardware that does not exist. Raises Conflict for a second one."""
    found = isolation()
    return clusters.add_simulated_zone(actor, isolation=found.level.value, isolation_reason=found.column)


def beat(actor: Actor, isolation: Isolation) -> int:
    """Mark every simulated node that is on as seen and write its made-up figures; how many there are."""
    with transaction.atomic():
        now = db_now()
        present = Node.objects.filter(cluster__zone__simulated=True, switched_off=False)
        nodes = list(present.select_for_update(of=("self",)))
        if not nodes:
            return 0
        Node.objects.filter(pk__in=[node.pk for node in nodes]).update(
            last_seen_at=now, isolation=isolation.level.value, isolation_reason=isolation.column
        )
        cards = list(Accelerator.objects.filter(node__in=nodes))
        _measure(cards, now)
        _sample(nodes, cards, now)
    return len(nodes)


def switch(actor: Actor, *, node_id: UUID, on: bool) -> Node:
    """Let a simulated machine fall silent, as one whose cable is cut, or be heard again: to see what then happens.

    Its work goes on behind the cut; when it is back, what was given up meanwhile is ended. Conflict for a real one.
    """
    with transaction.atomic():
        node = locked_node(actor, node_id)
        if not node.cluster.zone.simulated:
            raise Conflict(_("Only a simulated machine can be switched off here."))
        if node.switched_off == (not on):
            raise Conflict(_("The node is in this state already."))
        node.switched_off = not on
        if on:
            node.last_seen_at = db_now()
        node.save(update_fields=["switched_off", "last_seen_at"])
        record(actor, action="node.switched_on" if on else "node.switched_off", target=target(node))
    return node


def _measure(cards: list[Accelerator], now: datetime) -> None:
    taken = _taken([card.pk for card in cards])
    for card in cards:
        held = taken.get(card.pk, Taken())
        made_up = figures.of_card(
            card.uuid, now.timestamp(), load_pct=held.core_milli / 10, memory_mib=round(held.memory_mib * 0.78)
        )
        card.utilisation_pct = made_up.utilisation_pct
        card.memory_used_mib = min(card.memory_mib, made_up.memory_used_mib)
        card.temperature_c, card.power_w = made_up.temperature_c, made_up.power_w
        card.healthy, card.last_seen_at = True, now
    columns = ["utilisation_pct", "memory_used_mib", "temperature_c", "power_w", "healthy", "last_seen_at"]
    Accelerator.objects.bulk_update(cards, columns, batch_size=500)


def _taken(card_ids: list[UUID]) -> dict[UUID, Taken]:
    rows = (
        Placement.objects.filter(accelerator__in=card_ids, released_at__isnull=True)
        .values("accelerator_id")
        .annotate(cores=Sum("core_milli"), memory=Sum("device_memory_mib"))
    )
    return {row["accelerator_id"]: Taken(row["cores"] or 0, row["memory"] or 0) for row in rows}


def _sample(nodes: list[Node], cards: list[Accelerator], now: datetime) -> None:
    """CPU and memory follow from what is given out, as far as anything follows from anything here."""
    of_node: dict[UUID, list[Accelerator]] = defaultdict(list)
    for card in cards:
        of_node[card.node_id].append(card)
    held = {
        row["node_id"]: row
        for row in Placement.objects.filter(node__in=nodes, released_at__isnull=True)
        .values("node_id")
        .annotate(cpu=Sum("cpu_milli"), memory=Sum("memory_mib"))
    }
    NodeSample.objects.bulk_create(
        NodeSample(node=node, at=now, **_load(node, of_node[node.pk], held.get(node.pk, {}))) for node in nodes
    )
    NodeSample.objects.filter(node__in=nodes, at__lt=now - KEEP_SAMPLES).delete()


def _load(node: Node, cards: list[Accelerator], held: Mapping[str, Any]) -> dict[str, float | int]:
    busy = sum(card.utilisation_pct or 0.0 for card in cards) / max(1, len(cards))
    given = held.get("cpu", 0) / max(1, node.cpu_milli)
    memory = (IDLE_MEMORY_PCT / 100) * node.memory_mib + 0.6 * held.get("memory", 0)
    filled = [100 * (card.memory_used_mib or 0) / card.memory_mib for card in cards]
    return {
        "cpu_pct": round(min(100.0, IDLE_CPU_PCT + 80 * given * (0.4 + busy / 200)), 1),
        "memory_used_mib": round(memory),
        "disk_used_pct": DISK_PCT,
        "gpu_pct": round(busy, 1),
        "gpu_memory_pct": round(sum(filled) / max(1, len(filled)), 1),
    }
