"""Emptying a node: nothing new comes, what is there is told until when it may stay, and then moves or ends."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import record
from apps.clusters.choices import DrainAction, NodeStatus
from apps.clusters.models import Node
from apps.clusters.services import locked_node, target
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.notifications.services import notify_user
from apps.workloads import nudge, states
from apps.workloads.choices import Reason
from apps.workloads.hardware import holding
from apps.workloads.models import Attempt, Workload

NOTICE_MAX = timedelta(days=7)


def drain(actor: Actor, *, node_id: UUID, action: DrainAction, notice: timedelta) -> Node:
    """Begin to empty a node; its work may stay for `notice`. Repeated: the new deadline and action stand."""
    actor.require(Permission.PLATFORM_WORKLOADS_MANAGE)
    if not timedelta(0) <= notice <= NOTICE_MAX:
        raise Invalid.field("minutes", _("Give notice of at most seven days."))
    with transaction.atomic():
        node = locked_node(actor, node_id)
        before = node.status
        node.status, node.drain_action = NodeStatus.DRAINING, action
        node.drain_until = db_now() + notice
        node.save(update_fields=["status", "drain_action", "drain_until"])
        after = {"status": node.status, "action": action.value, "until": node.drain_until.isoformat()}
        record(actor, action="node.draining", target=target(node), before={"status": before}, after=after)
        _tell(node)
    nudge.reconcile()
    return node


def cancel(actor: Actor, *, node_id: UUID) -> Node:
    """Let the node take work again. What has left already does not come back by itself."""
    with transaction.atomic():
        node = locked_node(actor, node_id)
        if node.status != NodeStatus.DRAINING:
            raise Conflict(_("The node is not being emptied."))
        _close(node, NodeStatus.READY)
        before, after = {"status": NodeStatus.DRAINING.value}, {"status": NodeStatus.READY.value}
        record(actor, action="node.drain_cancelled", target=target(node), before=before, after=after)
    nudge.schedule()
    return node


def advance(actor: Actor) -> int:
    """Carry every drain on: at its deadline ask what is left to go, and close what is empty; how many are under way."""
    draining = list(Node.objects.filter(status=NodeStatus.DRAINING).values_list("pk", flat=True))
    for node_id in draining:
        with transaction.atomic():
            _advance(actor, locked_node(actor, node_id), db_now())
    return len(draining)


def _advance(actor: Actor, node: Node, now: datetime) -> None:
    if node.status != NodeStatus.DRAINING or node.drain_until is None:
        return
    left = list(holding.attempts_on_node(node.pk))
    if not left:
        _close(node, NodeStatus.CORDONED)
        record(actor, action="node.drained", target=target(node), after={"status": NodeStatus.CORDONED.value})
    elif node.drain_until <= now:
        _ask_to_go(actor, node, left)


def _ask_to_go(actor: Actor, node: Node, left: list[Attempt]) -> None:
    moved = [attempt for attempt in left if _action(node, attempt.workload) == DrainAction.REQUEUE]
    # The reconcile loop finds them, since their node says that they have to go.
    Attempt.objects.filter(pk__in=[attempt.pk for attempt in moved]).update(next_check_at=Now())
    for attempt in left:
        if attempt not in moved:
            states.stop(actor, attempt.workload, states.Why(Reason.DRAINED, {"node": node.name}))
    nudge.reconcile()


def _action(node: Node, workload: Workload) -> str:
    """Replicas are moved in any case."""
    return DrainAction.REQUEUE.value if workload.replica_set_id else node.drain_action


def _close(node: Node, status: NodeStatus) -> None:
    node.status, node.drain_until, node.drain_action = status, None, ""
    node.save(update_fields=["status", "drain_until", "drain_action"])


def _tell(node: Node) -> None:
    """Everyone whose work is on the node, once for each deadline."""
    until = node.drain_until.isoformat() if node.drain_until else ""
    for attempt in holding.attempts_on_node(node.pk):
        workload = attempt.workload
        notify_user(
            organisation_id=workload.organisation_id,
            user_id=workload.owner_id,
            kind="node.draining",
            data={"name": workload.name, "until": until, "action": _action(node, workload)},
            dedup=f"drain:{node.pk}:{until}:{workload.pk}",
        )
