"""The list of training runs, and which metrics and parameters it has as columns."""

from typing import Any

from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common import bulk
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.common.pages import REFUSED, paged
from apps.common.permissions import Permission
from apps.common.pushed import pushed
from apps.common.requests import ActorRequest
from apps.tracking.value_columns import MOST_COLUMNS
from apps.training import columns, selectors
from apps.training.bulk_acts import RUNS
from apps.training.choices import KIND
from apps.training.saved_views.selectors import shown_view
from apps.training.tables import RunFilter, RunTable
from apps.workloads import selectors as workloads


@pushed("runs", of=KIND)
@requires(in_organisation(Permission.TRAINING_VIEW))
@require_GET
def run_list(request: ActorRequest) -> HttpResponse:
    actor = request.actor
    rows = columns.with_columns(selectors.with_last_seen(selectors.in_list(actor)), request.GET)
    filtered = RunFilter(request.GET, queryset=rows, request=request)
    chosen = columns.columns_in(request.GET)
    table = RunTable(filtered.qs, request=request, bulk=bulk.offered(request, RUNS), chosen=chosen)
    paged(request, table)
    context = {
        "table": table,
        "filter": filtered,
        "nothing_yet": not filtered.form.has_changed() and not table.paginator.count and not _has_any(actor),
        "counts": workloads.live_counts(actor, KIND),
        "last_event_id": selectors.last_event_id(actor),
        "columns_url": reverse("training:columns"),
        "view": shown_view(actor, request.GET.get("view", "")),
    }
    return render(request, "training/list.html", context)


def _has_any(actor: Actor) -> bool:
    """Also where all of them are archived."""
    return selectors.runs(actor).exists()


@requires(in_organisation(Permission.TRAINING_VIEW))
@require_http_methods(["GET", "POST"])
def choose_columns(request: ActorRequest) -> HttpResponse:
    """GET: the columns that there are, for the list at this address. POST: on to the list with those of `column`."""
    asked = request.GET.copy()
    if request.method == "GET":
        dialog = bool(request.headers.get("HX-Request"))
        return render(request, f"training/columns{'_dialog' if dialog else ''}.html", _choice(request, asked))
    asked.setlist("column", request.POST.getlist("column"))
    try:
        asked.setlist("column", columns.checked(asked.getlist("column")))
    except Invalid as error:
        context = {**_choice(request, asked), "error": error.fields["column"]}
        return render(request, "training/columns.html", context, status=REFUSED)
    return redirect(f"{reverse('training:list')}?{asked.urlencode()}")


def _choice(request: ActorRequest, asked: QueryDict) -> dict[str, Any]:
    rows = RunFilter(asked, queryset=selectors.in_list(request.actor), request=request).qs
    return {
        "offered": columns.offered(rows, asked),
        "most": MOST_COLUMNS,
        "action": f"{reverse('training:columns')}?{request.GET.urlencode()}",
        "back": f"{reverse('training:list')}?{request.GET.urlencode()}",
    }


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_POST
def bulk_act(request: ActorRequest) -> HttpResponse:
    return bulk.answer(request, RUNS)
