"""Taking machines away. Their rows stay, because past runs name them; nothing shows them any more."""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.audit.services import Target, record
from apps.billing import services as billing
from apps.clusters.choices import CLOSED, NodeStatus
from apps.clusters.models import LogicalCluster, Node, Zone, ZonePackage
from apps.clusters.services import locked_node, locked_zone, target
from apps.common.actor import Actor, system_actor
from apps.common.errors import Conflict
from apps.common.permissions import Permission
from apps.workloads import nudge, states
from apps.workloads.choices import Reason
from apps.workloads.hardware import holding, lost
from apps.workloads.nodes import is_own_machine

# Columns of a node that has been taken away: an agent that still runs there knows a secret that nobody accepts.
GONE = {"removed_at": Now(), "sealed_secret": None, "status": NodeStatus.CORDONED, "drain_until": None}


def remove_node(actor: Actor, *, node_id: UUID, declare_lost: bool = False) -> Node:
    """Take away a node on which nothing runs: a closed one, or a lost one, whose work has been given up.

    `declare_lost`: it is declared lost first, which is the way out where it never answers again. Raises Conflict that
    says what is in the way.
    """
    if declare_lost:
        lost.declare(actor, node_id=node_id)
    with transaction.atomic():
        node = locked_node(actor, node_id)
        if is_own_machine(node):
            raise Conflict(_("This machine runs the platform itself, so it stays."))
        if node.status not in CLOSED and node.lost_at is None:
            raise Conflict(_("The node still takes work."), hint=_way_out(node))
        left = [attempt.workload for attempt in holding.attempts_on_node(node.pk).filter(given_up_at__isnull=True)]
        if left:
            words = _("Work is still on this node: %(names)s.") % {"names": holding.workload_names(left)}
            raise Conflict(words, hint=_way_out(node))
        Node.objects.filter(pk=node.pk).update(**GONE)
        record(actor, action="node.removed", target=target(node), before={"status": node.status})
    return node


def _way_out(node: Node) -> str:
    """What an operator does first."""
    if not lost.is_well(node):
        return _("It does not answer: declare it lost, and its work goes to other nodes.")
    if node.status == NodeStatus.DRAINING:
        return _("It is being emptied: wait until that is done.")
    return _("Drain it first.")


def stop_zone(actor: Actor, *, zone_id: UUID) -> int:
    """Close every node of a simulated zone and stop what lives there; how many workloads were asked to end."""
    actor.require(Permission.PLATFORM_WORKLOADS_MANAGE)
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        zone = _simulated(actor, zone_id)
        Node.objects.filter(cluster__zone=zone).update(status=NodeStatus.CORDONED, drain_until=None, drain_action="")
        why = states.Why(Reason.BY_PERSON, {"by": actor.label})
        stopped = sum(states.stop(actor, workload, why) for workload in holding.workloads_of_zone(zone))
        record(actor, action="zone.stopped", target=Target("zone", str(zone.pk), zone.name), after={"count": stopped})
    nudge.reconcile()
    return stopped


def remove_simulated_zone(actor: Actor, *, zone_id: UUID) -> Zone:
    """Take a simulated zone away, with its nodes, and withdraw its packages. Conflict while work lives on it."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        zone = _simulated(actor, zone_id)
        left = list(holding.workloads_of_zone(zone))
        if left:
            words = ngettext(
                "%(count)s workload is on it: %(names)s.", "%(count)s workloads are on it: %(names)s.", len(left)
            )
            raise Conflict(
                words % {"count": len(left), "names": holding.workload_names(left)}, hint=_("Stop them first.")
            )
        _withdraw(actor, zone)
        Node.objects.filter(cluster__zone=zone).update(**GONE)
        LogicalCluster.objects.filter(zone=zone).update(removed_at=Now())
        Zone.objects.filter(pk=zone.pk).update(removed_at=Now())
        record(actor, action="zone.deleted", target=Target("zone", str(zone.pk), zone.name))
    return zone


def _simulated(actor: Actor, zone_id: UUID) -> Zone:
    zone = locked_zone(actor, zone_id)
    if not zone.simulated:
        raise Conflict(_("This zone is real: drain and remove its nodes one by one."))
    return zone


def _withdraw(actor: Actor, zone: Zone) -> None:
    """Done by the platform itself, since it takes no right of its own: on a zone that is gone one only waits."""
    offers = ZonePackage.objects.filter(package__active=True, zone=zone)
    for package_id in offers.values_list("package_id", flat=True):
        billing.deactivate_package(system_actor(actor.channel), package_id=package_id)
