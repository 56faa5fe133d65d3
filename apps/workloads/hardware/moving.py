"""Moving a node into another logical cluster of its zone.

A node moves while nothing is on it: what runs there may be bound to its cluster, or may only use that one. The node
keeps its machine, its cards, its history and its state: a cordoned node arrives cordoned. What waits is planned anew.
"""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import record
from apps.clusters.models import LogicalCluster, Node
from apps.clusters.services import locked_node, target
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.workloads import nudge
from apps.workloads.hardware import holding


def move_node(actor: Actor, *, node_id: UUID, cluster_id: UUID) -> Node:
    """Raises Invalid for a cluster that is not in the node's zone, Conflict while work is on the node."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        # First the cluster, then the node: a scheduling pass that has locked nodes waits for neither.
        cluster = _kept_cluster(cluster_id)
        node = locked_node(actor, node_id)
        before: LogicalCluster = node.cluster
        if cluster is None or cluster.zone_id != before.zone_id:
            raise Invalid.field("cluster", _("Choose another logical cluster of the node's zone."))
        if cluster.pk == before.pk:
            raise Conflict(_("The node is in this cluster already."))
        _refuse_while_held(node)
        node.cluster = cluster
        node.save(update_fields=["cluster"])
        record(
            actor,
            action="node.moved",
            target=target(node),
            before={"cluster": before.name},
            after={"cluster": cluster.name},
        )
    nudge.schedule()
    return node


def _kept_cluster(cluster_id: UUID) -> LogicalCluster | None:
    """The cluster's row, locked against being deleted or reserved; passes that start work on its nodes go on."""
    found: LogicalCluster | None = LogicalCluster.objects.select_for_update(no_key=True).filter(pk=cluster_id).first()
    return found


def _refuse_while_held(node: Node) -> None:
    left = [attempt.workload for attempt in holding.attempts_on_node(node.pk)]
    if left:
        words = _("Work is still on this node: %(names)s.") % {"names": holding.workload_names(left)}
        raise Conflict(words, hint=_("Drain it first, or wait until that has ended."))
