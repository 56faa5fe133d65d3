"""Workloads of all organisations, with where each one runs."""

from django.db.models import OuterRef, QuerySet, Subquery

from apps.common.actor import Actor
from apps.workloads import selectors as kernel
from apps.workloads.models import Attempt, Workload


def workloads(actor: Actor) -> QuerySet[Workload]:
    """Newest first, each with `node_name`, where its live attempt was placed (None: nowhere)."""
    live = Attempt.objects.filter(workload=OuterRef("pk"), ended_at__isnull=True)
    return kernel.visible(actor).annotate(node_name=Subquery(live.values("node__name")[:1]))
