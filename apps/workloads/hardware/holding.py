"""Who holds a card, a node, a zone: what stands in the way of changing it."""

from uuid import UUID

from django.db.models import Q, QuerySet

from apps.clusters.models import Zone
from apps.workloads.choices import LIVE, Status
from apps.workloads.models import Attempt, Workload
from apps.workloads.programs import with_program_on

NAMED = 5


def attempts_on_node(node_id: UUID) -> QuerySet[Attempt]:
    """Live attempts of the node, oldest first, with their workload."""
    rows: QuerySet[Attempt] = Attempt.objects.filter(with_program_on(node_id), ended_at__isnull=True)
    return rows.select_related("workload__organisation", "workload__owner").order_by("placed_at", "pk")


def workloads_of_zone(zone: Zone) -> QuerySet[Workload]:
    """Workloads that live on the zone's nodes, or wait for no other zone's."""
    here = Attempt.objects.filter(node__cluster__zone=zone, ended_at__isnull=True).values("workload_id")
    waiting = Q(status=Status.QUEUED, spec__zone=str(zone.pk))
    rows: QuerySet[Workload] = Workload.objects.filter(Q(pk__in=here) | waiting, status__in=LIVE)
    return rows.order_by("created_at", "pk")


def workload_names(workloads: list[Workload]) -> str:
    """The first few, for a refusal that says which work is meant."""
    told = ", ".join(workload.name for workload in workloads[:NAMED])
    return f"{told}, …" if len(workloads) > NAMED else told
