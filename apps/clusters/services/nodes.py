"""What operators change about a machine."""

import re
from collections.abc import Mapping
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.clusters.choices import NodeStatus
from apps.clusters.models import Node
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission

LABEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,62}")
LABEL_VALUE_MAX, LABELS_MAX = 120, 20


def locked_node(actor: Actor, node_id: UUID) -> Node:
    """The node's row, locked, for somebody who may manage nodes. Call inside a transaction; raises `NotFound`."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    node: Node | None = Node.objects.select_for_update().filter(pk=node_id).first()
    if node is None:
        raise NotFound
    return node


def target(node: Node) -> Target:
    return Target("node", str(node.pk), node.name)


def cordon(actor: Actor, *, node_id: UUID, cordoned: bool) -> Node:
    """Keep new work off a node, or allow it again. Running work goes on; a drain in progress is cancelled."""
    to = NodeStatus.CORDONED if cordoned else NodeStatus.READY
    with transaction.atomic():
        node = locked_node(actor, node_id)
        if node.status == to:
            raise Conflict(_("The node is in this state already."))
        before, node.status = node.status, to
        node.drain_until, node.drain_action = None, ""
        node.save(update_fields=["status", "drain_until", "drain_action"])
        record(
            actor,
            action="node.cordoned" if cordoned else "node.uncordoned",
            target=target(node),
            before={"status": before},
            after={"status": to.value},
        )
    return node


def set_labels(actor: Actor, *, node_id: UUID, labels: Mapping[str, str]) -> Node:
    """Replace the node's labels. Raises Invalid for malformed names, and for too many."""
    cleaned = {name.strip(): value.strip() for name, value in labels.items() if name.strip()}
    _check_labels(cleaned)
    with transaction.atomic():
        node = locked_node(actor, node_id)
        before, node.labels = node.labels, cleaned
        if before != cleaned:
            node.save(update_fields=["labels"])
            record(actor, action="node.labelled", target=target(node), before=before, after=cleaned)
    return node


def _check_labels(labels: Mapping[str, str]) -> None:
    if len(labels) > LABELS_MAX:
        raise Invalid.field("labels", _("A node has at most twenty labels."))
    for name, value in labels.items():
        if not LABEL_NAME.fullmatch(name):
            raise Invalid.field("labels", _("A label's name begins with a letter or digit, and has no spaces."))
        if len(value) > LABEL_VALUE_MAX:
            raise Invalid.field("labels", _("A label's value has at most 120 characters."))
