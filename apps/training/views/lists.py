"""The list of training runs."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from apps.common import bulk
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.pushed import pushed
from apps.common.requests import ActorRequest
from apps.training import selectors
from apps.training.bulk_acts import RUNS
from apps.training.choices import KIND
from apps.training.tables import RunFilter, RunTable
from apps.workloads import selectors as workloads


@pushed("runs", of=KIND)
@requires(in_organisation(Permission.TRAINING_VIEW))
@require_GET
def run_list(request: ActorRequest) -> HttpResponse:
    actor = request.actor
    filtered = RunFilter(request.GET, queryset=selectors.with_last_seen(selectors.in_list(actor)), request=request)
    table = RunTable(filtered.qs, request=request, bulk=bulk.offered(request, RUNS))
    paged(request, table)
    context = {
        "table": table,
        "filter": filtered,
        "nothing_yet": not filtered.form.has_changed() and not table.paginator.count and not _has_any(actor),
        "counts": workloads.live_counts(actor, KIND),
        "last_event_id": selectors.last_event_id(actor),
    }
    return render(request, "training/list.html", context)


def _has_any(actor: Actor) -> bool:
    """Also where all of them are archived."""
    return selectors.runs(actor).exists()


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_POST
def bulk_act(request: ActorRequest) -> HttpResponse:
    return bulk.answer(request, RUNS)
