"""Searches on tables that the actor may see: those whose runs they see."""

from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.tabular.models import TableSearch
from apps.training import selectors as training
from apps.training.choices import KIND
from apps.training.models import Run
from apps.workloads.permissions import seen_rows


def searches(actor: Actor) -> QuerySet[TableSearch]:
    """The actor's own, or all that they manage; newest first, with the `name`, `note`, `status` and `run_version` of
    the newest run. One whose runs are deleted is gone with them."""
    newest = Run.objects.filter(family=OuterRef("family"), deleted_at__isnull=True).order_by("-version")
    rows: QuerySet[TableSearch] = TableSearch.objects.select_related("owner").annotate(
        run_id=Subquery(newest.values("pk")[:1]),
        run_version=Subquery(newest.values("version")[:1]),
        name=Subquery(newest.values("name")[:1]),
        note=Subquery(newest.values("note")[:1]),
        status=Subquery(newest.values("workload__status")[:1]),
    )
    return seen_rows(actor, KIND, rows.filter(Q(run_id__isnull=False))).order_by("-created_at", "-pk")


def get(actor: Actor, search_id: UUID) -> TableSearch:
    """One visible search; `NotFound` otherwise."""
    found = searches(actor).filter(pk=search_id).first()
    if found is None:
        raise NotFound
    return found


def run_of(actor: Actor, search: TableSearch) -> Run:
    """The newest of its runs, in which all that was found before is, too."""
    found = training.runs(actor).filter(family=search.family).order_by("-version").first()
    if found is None:
        raise NotFound
    return found
