"""Close nodes by the platform's own judgement, and open them again: the only place that writes their quarantine."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import record
from apps.clusters.choices import UNPROVED, Quarantine
from apps.clusters.models import Node
from apps.clusters.node_quarantine import Grounds
from apps.clusters.services.nodes import locked_node, target
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.permissions import Permission

NOTHING = Grounds()


def quarantine(actor: Actor, *, node_id: UUID, why: Quarantine, grounds: Grounds = NOTHING) -> bool:
    """Whether it is news: repeated with the same reason, only the grounds are brought up to date."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    with transaction.atomic():
        here = Node.objects.filter(pk=node_id)
        if here.filter(quarantine=why).update(quarantine_about=grounds.as_json()):
            return False
        return bool(here.update(quarantine=why, quarantine_changed_at=Now(), quarantine_about=grounds.as_json()))


def quarantine_zone(actor: Actor, *, zone_id: UUID) -> int:
    """Nothing is proved any more of the nodes of a zone that is a Kubernetes cluster; how many that concerns."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    rows = Node.objects.filter(cluster__zone=zone_id, cluster__zone__kubernetes__isnull=False)
    return rows.exclude(quarantine=Quarantine.LOSES_WORK).update(
        quarantine=Quarantine.UNPROVED, quarantine_changed_at=Now(), quarantine_about={}
    )


def lift(actor: Actor, *, node_ids: Collection[UUID], reasons: Collection[str], before: datetime) -> int:
    """Let these take work that were closed for one of `reasons` before then; how many do. The proof is newer."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    known = Q(quarantine_changed_at__isnull=True) | Q(quarantine_changed_at__lte=before)
    rows = Node.objects.filter(known, pk__in=node_ids, quarantine__in=reasons)
    return rows.update(quarantine="", quarantine_changed_at=Now(), quarantine_about={})


def trust(actor: Actor, *, node_id: UUID) -> Node:
    """A person opens a node that lost work. Raises Conflict for one that only a check-up can open, or that is open."""
    with transaction.atomic():
        node = locked_node(actor, node_id)
        if not node.quarantine:
            raise Conflict(_("The node is not in quarantine."))
        if node.quarantine in UNPROVED:
            raise Conflict(
                _("Nobody has proved yet that work can run there."), hint=_("Have the cluster of its zone examined.")
            )
        before = {"quarantine": node.quarantine}
        node.quarantine, node.quarantine_about = "", {}
        node.save(update_fields=["quarantine", "quarantine_about"])
        Node.objects.filter(pk=node.pk).update(quarantine_changed_at=Now())
        record(actor, action="node.trusted", target=target(node), before=before)
    return node
