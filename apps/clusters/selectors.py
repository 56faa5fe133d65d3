"""Reading machines and their load."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext

from apps.clusters.models import Accelerator, CardFault, ClusterGrant, LogicalCluster, Node, NodeSample, Zone
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import NotFound
from apps.common.permissions import Permission

# Machines are heard from every 20 s; three times missed, and the page says that they are silent.
UNSEEN_AFTER = timedelta(seconds=60)


def silent(path: str = "") -> Q:
    """Condition for machines not heard from lately; `path` leads to the node's columns."""
    return Q(**{f"{path}last_seen_at__lt": Now() - UNSEEN_AFTER})


def zones(actor: Actor) -> QuerySet[Zone]:
    """Zones with the number of their clusters, nodes and cards."""
    actor.require(Permission.PLATFORM_NODES_VIEW)
    here = Q(clusters__nodes__removed_at__isnull=True)
    rows: QuerySet[Zone] = Zone.objects.annotate(
        cluster_count=Count("clusters", filter=Q(clusters__removed_at__isnull=True), distinct=True),
        node_count=Count("clusters__nodes", filter=here, distinct=True),
        card_count=Count("clusters__nodes__accelerators", filter=here, distinct=True),
    )
    return rows.order_by("simulated", "name")


def zone(actor: Actor, zone_id: UUID) -> Zone:
    found: Zone | None = zones(actor).filter(pk=zone_id).first()
    if found is None:
        raise NotFound
    return found


def clusters_of(actor: Actor, zone_id: UUID) -> QuerySet[LogicalCluster]:
    """The zone's clusters with the number of their nodes, and of the organisations that they are given to."""
    actor.require(Permission.PLATFORM_NODES_VIEW)
    here = Q(nodes__removed_at__isnull=True, nodes__isnull=False)
    rows: QuerySet[LogicalCluster] = LogicalCluster.objects.filter(zone_id=zone_id)
    counted = rows.annotate(
        node_count=Count("nodes", filter=here, distinct=True), grant_count=Count("grants", distinct=True)
    )
    return counted.select_related("zone").order_by("name")


def cluster(actor: Actor, cluster_id: UUID) -> LogicalCluster:
    actor.require(Permission.PLATFORM_NODES_VIEW)
    found: LogicalCluster | None = LogicalCluster.objects.select_related("zone").filter(pk=cluster_id).first()
    if found is None:
        raise NotFound
    return found


def organisations_of(actor: Actor, cluster_id: UUID) -> QuerySet[ClusterGrant]:
    """The organisations that the cluster is given to, by name."""
    rows: QuerySet[ClusterGrant] = ClusterGrant.objects.filter(cluster=cluster(actor, cluster_id))
    return rows.select_related("organisation").order_by("organisation__name", "pk")


def cluster_choices() -> list[tuple[UUID, str]]:
    """Logical clusters that the organisation which acts may bind its work to, by name, for the forms that start it."""
    # Scoped: the grants of that organisation alone.
    given = ClusterGrant.objects.values("cluster_id")
    here = LogicalCluster.objects.filter(Q(reserved=False) | Q(pk__in=given), zone__removed_at__isnull=True)
    rows = here.select_related("zone")
    return [(each.pk, f"{each.zone.name} / {each.name}") for each in rows.order_by("zone__name", "name", "pk")]


def cluster_options() -> list[tuple[UUID | str, Any]]:
    """`cluster_choices` for a form, with "any" first."""
    return [("", gettext("Any")), *cluster_choices()]


def cluster_named(value: object) -> str | None:
    """The id as forms post it, where work may be bound to that cluster; None for anything else."""
    return next((str(pk) for pk, _name in cluster_choices() if str(pk) == str(value)), None) if value else None


def cards(actor: Actor) -> QuerySet[Accelerator]:
    actor.require(Permission.PLATFORM_NODES_VIEW)
    rows: QuerySet[Accelerator] = Accelerator.objects.select_related("node__cluster__zone")
    return rows.order_by("node__cluster__zone__simulated", "node__cluster__zone__name", "node__name", "index")


def card(actor: Actor, card_id: UUID) -> Accelerator:
    found = cards(actor).filter(pk=card_id).first()
    if found is None:
        raise NotFound
    return found


def card_faults(actor: Actor, *, node_id: UUID | None = None, card_id: UUID | None = None) -> QuerySet[CardFault]:
    """Faults of a node's cards, or of one card, newest first, with card and node."""
    actor.require(Permission.PLATFORM_NODES_VIEW)
    found = CardFault.objects.select_related("accelerator__node").order_by("-last_at", "-pk")
    return found.filter(accelerator__node=node_id) if node_id else found.filter(accelerator=card_id)


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
