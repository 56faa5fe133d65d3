"""What a check-up proves of the nodes of a cluster, and which of them take work because of it.

A cluster that answers may still be of no use: its nodes may have another folder where the platform's files should be,
or nobody reaches their pods. Whatever is placed there is lost within seconds, so that such a cluster would swallow the
work of everybody. So a node takes none before a check-up has proved that it sees the files; to have told so, its probe
was reached, too. A node that was open and is found not to see them takes none from then on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max

from apps.clusters import services
from apps.clusters.choices import OPEN_CHECKUPS, UNPROVED, Quarantine
from apps.clusters.models import ClusterCheckup, Node
from apps.clusters.node_quarantine import Grounds
from apps.clusters.selectors import UNSEEN_AFTER
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform
from apps.workloads import nudge

# A node that could not be proved is tried again after as long as it had waited then, between these bounds.
SOONEST, LATEST = timedelta(minutes=10), timedelta(hours=6)
NAMED = 5
# Of the checks of `drivers.kubernetes.doctor.findings`.
FILES, REACH = "files", "reach"


@dataclass(frozen=True, slots=True)
class NodeProofs:
    """Nodes by the names that their cluster gives them. `elsewhere`, `silent`: with what was seen."""

    proved: frozenset[str] = frozenset()
    elsewhere: Mapping[str, Grounds] = field(default_factory=dict)
    silent: Mapping[str, Grounds] = field(default_factory=dict)


def read_proofs(findings: Iterable[Mapping[str, Any]]) -> NodeProofs:
    """Of the findings of a check-up; nothing where it did not come so far."""
    files: Mapping[str, Any] = {}
    reach: Mapping[str, Any] = {}
    for each in findings:
        if each["check"] == FILES:
            files = each
        elif each["check"] == REACH:
            reach = each
    elsewhere = _by_node(files, "elsewhere")
    silent = _by_node(reach, "nodes") if reach.get("level") == "fail" else {}
    proved = frozenset((files.get("params") or {}).get("proved", ()))
    return NodeProofs(proved - silent.keys(), elsewhere, silent)


def _by_node(finding: Mapping[str, Any], names: str) -> dict[str, Grounds]:
    params = finding.get("params") or {}
    pairs = zip(params.get(names, ()), params.get("errors", ()), strict=False)
    return {name: Grounds(error=str(error), command=str(finding.get("command", ""))) for name, error in pairs}


def apply_proofs(actor: Actor, checkup: ClusterCheckup, proofs: NodeProofs) -> None:
    """Open the nodes that are proved, close those that are disproved, and tell the operators of these once.

    A node that is open and did not answer stays open: what runs there may be all that keeps a probe from starting.
    """
    nodes = list(Node.objects.filter(cluster__zone=checkup.zone_id, cluster__zone__kubernetes__isnull=False))
    reasons = [*UNPROVED] if checkup.automatic else [*UNPROVED, Quarantine.LOSES_WORK]
    good = [node.pk for node in nodes if node.address in proofs.proved]
    if checkup.started_at is not None:
        services.lift(actor, node_ids=good, reasons=reasons, before=checkup.started_at)
    closed = [node for node in nodes if _close(actor, node, proofs)]
    if closed:
        _tell(checkup, closed)
    if good:
        nudge.schedule()


def _close(actor: Actor, node: Node, proofs: NodeProofs) -> bool:
    if node.address in proofs.elsewhere:
        grounds = proofs.elsewhere[node.address]
        return services.quarantine(actor, node_id=node.pk, why=Quarantine.FILES, grounds=grounds)
    if node.address in proofs.silent and node.quarantine in UNPROVED:
        grounds = proofs.silent[node.address]
        return services.quarantine(actor, node_id=node.pk, why=Quarantine.UNREACHED, grounds=grounds)
    return False


def _tell(checkup: ClusterCheckup, closed: Sequence[Node]) -> None:
    names = sorted(node.name for node in closed)
    notify_platform(
        permission=Permission.PLATFORM_NODES_MANAGE,
        kind="zone.nodes_unproved",
        data={
            "zone_id": str(checkup.zone_id),
            "name": checkup.zone.name,
            "nodes": names[:NAMED],
            "count": len(names),
        },
        dedup=f"zone.nodes_unproved:{checkup.pk}",
    )


def waiting_names(zone_id: UUID) -> list[str]:
    """Nodes of the zone that take no work before they are proved, as their cluster calls them."""
    rows = Node.objects.filter(cluster__zone=zone_id).exclude(quarantine="")
    return list(rows.order_by("quarantine_changed_at", "name").values_list("address", flat=True))


def unproved_count(zone_id: UUID) -> int:
    """How many nodes of a cluster's zone take no work before a check-up has proved them."""
    return Node.objects.filter(cluster__zone=zone_id, quarantine__in=UNPROVED).count()


def is_checkup_due(zone_id: UUID) -> bool:
    """Whether the platform has to order one by itself: nodes that are heard wait for their proof, and it is time."""
    now = db_now()
    waiting = Node.objects.filter(cluster__zone=zone_id, quarantine__in=UNPROVED, last_seen_at__gte=now - UNSEEN_AFTER)
    newest = waiting.aggregate(at=Max("quarantine_changed_at"))["at"]
    if newest is None:
        return False
    last = ClusterCheckup.objects.filter(zone=zone_id).order_by("-created_at").first()
    if last is None:
        return True
    if last.status in OPEN_CHECKUPS:
        return False
    if waiting.filter(quarantine=Quarantine.UNPROVED, quarantine_changed_at__gt=last.created_at).exists():
        return True
    tried = last.ended_at or last.created_at
    pause: timedelta = min(max(tried - newest, SOONEST), LATEST)
    return bool(now - tried >= pause)
