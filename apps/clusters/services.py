"""Keeping the rows of machines true, and what operators change about them."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.clusters.choices import AcceleratorMode, NodeStatus
from apps.clusters.discovery import Card, Machine, look
from apps.clusters.models import Accelerator, LogicalCluster, Node, NodeSample, Zone
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, NotFound
from apps.common.permissions import Permission

KEEP_SAMPLES = timedelta(days=7)
# Left to the operating system and the platform: a tenth of the memory, between these bounds (MiB).
RESERVE_MIN_MIB, RESERVE_MAX_MIB = 512, 4096


def discover_local(actor: Actor, *, folder: Path, isolation: str, isolation_reason: str) -> Node:
    """Write what this machine has and how it isolates work; makes its zone and cluster when they are missing."""
    machine = look(folder)
    with transaction.atomic():
        node = _upsert_node(machine, isolation, isolation_reason)
        _upsert_cards(node, machine.cards)
        NodeSample.objects.create(
            node=node,
            cpu_pct=machine.cpu_pct,
            memory_used_mib=machine.memory_used_mib,
            disk_used_pct=round(100 * (1 - machine.disk_free_mib / max(1, machine.disk_mib)), 2),
        )
        NodeSample.objects.filter(node=node, at__lt=db_now() - KEEP_SAMPLES).delete()
    return node


def _upsert_node(machine: Machine, isolation: str, isolation_reason: str) -> Node:
    zone, _made = Zone.objects.get_or_create(name="local")
    cluster, _made = LogicalCluster.objects.get_or_create(zone=zone, name="default")
    measured = {
        "arch": machine.arch,
        "isolation": isolation,
        "isolation_reason": isolation_reason[:400],
        "cpu_milli": machine.cpu_milli,
        "memory_mib": machine.memory_mib,
        "reserved_memory_mib": min(RESERVE_MAX_MIB, max(RESERVE_MIN_MIB, machine.memory_mib // 10)),
        "disk_mib": machine.disk_mib,
        "disk_free_mib": machine.disk_free_mib,
        "facts": machine.facts,
        "last_seen_at": Now(),
    }
    node, _made = Node.objects.update_or_create(
        driver="local", defaults=measured, create_defaults={**measured, "cluster": cluster, "name": machine.name}
    )
    return node


def _upsert_cards(node: Node, cards: tuple[Card, ...]) -> None:
    """Cards that no longer answer stay, marked unhealthy: something may still be accounted to them."""
    for card in cards:
        Accelerator.objects.update_or_create(
            uuid=card.uuid,
            defaults={
                "node": node,
                "index": card.index,
                "vendor": card.vendor,
                "model": card.model[:60],
                "memory_mib": card.memory_mib,
                "healthy": True,
                "last_seen_at": Now(),
            },
            create_defaults={
                "node": node,
                "index": card.index,
                "vendor": card.vendor,
                "model": card.model[:60],
                "memory_mib": card.memory_mib,
                "mode": AcceleratorMode.MIG if card.mig else AcceleratorMode.WHOLE,
            },
        )
    Accelerator.objects.filter(node=node).exclude(uuid__in=[card.uuid for card in cards]).update(healthy=False)


def cordon(actor: Actor, *, node_id: UUID, cordoned: bool) -> Node:
    """Keep new work off a node, or let it come again. What runs there goes on."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    to = NodeStatus.CORDONED if cordoned else NodeStatus.READY
    with transaction.atomic():
        node = Node.objects.select_for_update().filter(pk=node_id).first()
        if node is None:
            raise NotFound
        if node.status == to:
            raise Conflict(_("The node is in this state already."))
        before, node.status = node.status, to
        node.save(update_fields=["status"])
        record(
            actor,
            action="node.cordoned" if cordoned else "node.uncordoned",
            target=Target("node", str(node.pk), node.name),
            before={"status": before},
            after={"status": to.value},
        )
    return node
