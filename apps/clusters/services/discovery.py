"""Keep the rows of machines up to date."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from apps.clusters import card_links, geometry, rdma
from apps.clusters.architectures import kernel_name
from apps.clusters.cards import Card, Trouble
from apps.clusters.choices import AcceleratorMode, Limiter
from apps.clusters.discovery import Machine
from apps.clusters.limiters import effective_limiter
from apps.clusters.models import Accelerator, LogicalCluster, Node, NodeSample, Zone
from apps.clusters.services.card_health import judge_cards
from apps.common.actor import Actor
from apps.common.clock import db_now

KEEP_SAMPLES = timedelta(days=7)
# Left to the operating system and the platform: a tenth of the memory, between these bounds (MiB).
RESERVE_MIN_MIB, RESERVE_MAX_MIB = 512, 4096


def upsert_machine(
    actor: Actor, *, driver: str, key: str = "", machine: Machine, isolation: str, isolation_reason: str
) -> Node:
    """Write the capacity of a machine that its driver found, and how it isolates work.

    `key` identifies it among the driver's machines. Its cluster, and its zone with the driver's name, are created if
    missing.
    """
    columns = measured_columns(machine, isolation, isolation_reason)
    with transaction.atomic():
        node = _upsert_node(driver, key, machine.name, columns)
        write_cards(node, machine)
        write_sample(node, machine)
    return node


def write_sample(node: Node, machine: Machine) -> None:
    """Store a measurement of the machine, and delete those too old for any chart."""
    NodeSample.objects.create(
        node=node,
        cpu_pct=machine.cpu_pct,
        memory_used_mib=machine.memory_used_mib,
        disk_used_pct=round(100 * (1 - machine.disk_free_mib / max(1, machine.disk_mib)), 2),
        gpu_pct=_mean([card.utilisation_pct for card in machine.cards]),
        gpu_memory_pct=_mean([_memory_pct(card) for card in machine.cards]),
    )
    NodeSample.objects.filter(node=node, at__lt=db_now() - KEEP_SAMPLES).delete()


def _memory_pct(card: Card) -> float | None:
    return None if card.memory_used_mib is None else 100 * card.memory_used_mib / max(1, card.memory_mib)


def _mean(values: Sequence[float | None]) -> float | None:
    """Mean of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 1) if known else None


def measured_columns(machine: Machine, isolation: str, isolation_reason: str) -> dict[str, Any]:
    """The columns of a node that a measurement sets."""
    return {
        "arch": kernel_name(machine.arch),
        "isolation": isolation,
        "isolation_reason": isolation_reason[:400],
        "cpu_milli": machine.cpu_milli,
        "memory_mib": machine.memory_mib,
        "reserved_memory_mib": min(RESERVE_MAX_MIB, max(RESERVE_MIN_MIB, machine.memory_mib // 10)),
        "disk_mib": machine.disk_mib,
        "disk_free_mib": machine.disk_free_mib,
        "disk_files": machine.disk_files,
        "disk_files_free": machine.disk_files_free,
        "facts": machine.facts,
        "boot_id": machine.boot_id or None,
        "faults_unread": machine.faults_unread,
        "rdma": rdma.as_json(machine.rdma),
        "last_seen_at": Now(),
    }


def _upsert_node(driver: str, key: str, name: str, columns: dict[str, Any]) -> Node:
    if not Node.objects.filter(driver=driver, machine_id=key).exists():
        columns |= {"cluster": first_cluster(driver), "name": name}
    node, _made = Node.objects.update_or_create(driver=driver, machine_id=key, defaults=columns)
    return node


def first_cluster(zone_name: str = "local") -> LogicalCluster:
    """The cluster that a zone begins with, made when it is missing."""
    zone, _made = Zone.objects.get_or_create(name=zone_name)
    cluster, _made = LogicalCluster.objects.get_or_create(zone=zone, name="default")
    return cluster


def write_cards(node: Node, machine: Machine) -> None:
    """Write what the machine tells of its cards, then judge which are well."""
    for card in machine.cards:
        columns = {
            "node": node,
            "index": card.index,
            "vendor": card.vendor,
            "model": card.model[:60],
            "memory_mib": card.memory_mib,
            "healthy": card.healthy,
            "trouble": _trouble(card),
            "last_seen_at": Now(),
            "utilisation_pct": card.utilisation_pct,
            "memory_used_mib": card.memory_used_mib,
            "temperature_c": card.temperature_c,
            "power_w": card.power_w,
            "mig_profiles": geometry.as_json(card.mig_cuts),
            "limiter": _limiter(node, machine, card),
            "partition": card.partition[:8],
            "pci": card.pci[:20],
            "numa": card.numa if isinstance(card.numa, int) and 0 <= card.numa < 2**15 else None,
            "links": card_links.sensible_links(card.links),
        }
        mode = AcceleratorMode.MIG if card.mig else AcceleratorMode.WHOLE
        # A card that moved to another machine, or whose machine was removed and came back, keeps its row.
        Accelerator.everything.update_or_create(
            uuid=card.uuid, defaults=columns, create_defaults={**columns, "uuid": card.uuid, "mode": mode}
        )
    judge_cards(node, machine)


def _trouble(card: Card) -> str:
    """Why the card is not well; one of before reasons were told only says that it is not."""
    if card.healthy:
        return ""
    return card.trouble if card.trouble in tuple(Trouble) else Trouble.DRIVER


def _limiter(node: Node, machine: Machine, card: Card) -> Limiter:
    found = effective_limiter(machine.limiters, node.isolation) if card.vendor == "nvidia" else None
    return Limiter(found.value) if found else Limiter.NONE
