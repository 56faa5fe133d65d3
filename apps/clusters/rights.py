"""Who may use which logical cluster: open ones everybody, reserved ones the organisations that they are given to.

A right counts at a start. What runs keeps its place when the right ends; its next start is refused or waits, and says
why. Decisions of a scheduling pass stand on rows that are locked until it commits (`lock_places`), so that a cluster
which is taken back, or a node that moves, meets either no start or one that was rightful.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet

from apps.clusters.models import ClusterGrant, LogicalCluster

Entitlements = Mapping[str, tuple[str, ...]]
"""By id of the organisation, the ids of the reserved clusters that it may use, sorted."""

_LOCK = """
    SELECT node.id, cluster.id, cluster.reserved
    FROM clusters_node node JOIN clusters_logicalcluster cluster ON cluster.id = node.cluster_id
    WHERE node.id = ANY(%s) AND node.removed_at IS NULL
    ORDER BY cluster.id, node.id
    FOR KEY SHARE
"""


def entitlements(organisation_ids: Collection[UUID | str] | None = None) -> Entitlements:
    """Of these organisations, or of all; those without any are left out."""
    rows = ClusterGrant.objects.filter(cluster__reserved=True, cluster__removed_at__isnull=True)
    if organisation_ids is not None:
        rows = rows.filter(organisation_id__in=organisation_ids)
    found: dict[str, list[str]] = defaultdict(list)
    for organisation, cluster in rows.values_list("organisation_id", "cluster_id"):
        found[str(organisation)].append(str(cluster))
    return {organisation: tuple(sorted(clusters)) for organisation, clusters in found.items()}


def entitled_to(organisation_id: UUID) -> tuple[str, ...]:
    """The reserved clusters that the organisation may use."""
    return entitlements([organisation_id]).get(str(organisation_id), ())


def reserved_clusters() -> tuple[str, ...]:
    """Ids of all reserved clusters, sorted: the rights of a question that is about no organisation."""
    rows = LogicalCluster.objects.filter(reserved=True).values_list("pk", flat=True)
    return tuple(sorted(map(str, rows)))


def usable_by(organisation_id: UUID) -> QuerySet[LogicalCluster]:
    """The clusters that the organisation may use, and therefore see."""
    given = ClusterGrant.objects.filter(organisation_id=organisation_id).values("cluster_id")
    rows: QuerySet[LogicalCluster] = LogicalCluster.objects.filter(Q(reserved=False) | Q(pk__in=given))
    return rows.filter(zone__removed_at__isnull=True)


@dataclass(frozen=True, slots=True)
class LockedPlaces:
    """Which cluster each node is in, and who may use the reserved ones, until the transaction ends."""

    cluster_of: Mapping[UUID, tuple[str, bool]]
    entitled: Entitlements

    def may_start(self, organisation_id: UUID, node_ids: Collection[UUID], bound_to: str | None) -> bool:
        """Whether its work may start on all of these nodes; False where one moved out of its reach, or went.

        `bound_to`: the id of the only cluster in which the work may run; None for any.
        """
        own = self.entitled.get(str(organisation_id), ())
        found = [self.cluster_of[node] for node in node_ids if node in self.cluster_of]
        return len(found) == len(node_ids) and all(
            bound_to in (None, cluster) and (not reserved or cluster in own) for cluster, reserved in found
        )


def lock_places(node_ids: Collection[UUID], organisation_ids: Collection[UUID]) -> LockedPlaces:
    """Keep these nodes in their clusters, and the clusters as they are given, until the transaction ends.

    The locks stop only who locks a row for update: moves of nodes and changes of rights do, measurements do not.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [list(node_ids)])
        places = {node: (str(cluster), bool(reserved)) for node, cluster, reserved in cursor.fetchall()}
    # Read after the clusters are locked: whoever takes one back does so before this, or waits.
    needed = any(reserved for _cluster, reserved in places.values())
    return LockedPlaces(places, entitlements(set(organisation_ids)) if needed else {})
