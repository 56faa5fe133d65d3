"""Reading machines and their load."""

from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet

from apps.clusters.models import Node, NodeSample
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.common.permissions import Permission

# Machines are heard from every 20 s; three times missed, and the page says that they are silent.
UNSEEN_AFTER = timedelta(seconds=60)


def nodes(actor: Actor) -> QuerySet[Node]:
    actor.require(Permission.PLATFORM_NODES_VIEW)
    return Node.objects.select_related("cluster__zone").prefetch_related("accelerators")


def node(actor: Actor, node_id: UUID) -> Node:
    found = nodes(actor).filter(pk=node_id).first()
    if found is None:
        raise NotFound
    return found


def samples(actor: Actor, node_id: UUID, *, span: timedelta = timedelta(hours=1)) -> QuerySet[NodeSample]:
    """Measurements of the last `span`, oldest first."""
    return NodeSample.objects.filter(node=node(actor, node_id), at__gte=db_now() - span).order_by("at")
