"""Workloads of all organisations, with where each one runs."""

from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.workloads import selectors as kernel
from apps.workloads.models import Attempt, Workload


def workloads(actor: Actor) -> QuerySet[Workload]:
    """Newest first, each with `node_name`, where its newest attempt was placed (None: nowhere yet)."""
    attempts = Attempt.objects.filter(workload=OuterRef("pk")).order_by("-number")
    return kernel.visible(actor).annotate(node_name=Subquery(attempts.values("node__name")[:1]))


def get(actor: Actor, workload_id: UUID) -> Workload:
    """One visible workload; `NotFound` otherwise."""
    found = workloads(actor).filter(pk=workload_id).first()
    if found is None:
        raise NotFound
    return found
