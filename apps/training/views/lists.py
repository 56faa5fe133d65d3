"""The list of training runs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_tables2 import RequestConfig

from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission
from apps.training import selectors
from apps.training.tables import RunFilter, RunTable

PER_PAGE = 25


@requires(in_organisation(Permission.TRAINING_VIEW))
def run_list(request: HttpRequest) -> HttpResponse:
    everything = selectors.runs(request.actor)
    filtered = RunFilter(request.GET, queryset=everything, request=request)
    table = RunTable(filtered.qs, request=request)
    RequestConfig(request, paginate={"per_page": PER_PAGE, "silent": True}).configure(table)
    nothing_yet = not filtered.form.has_changed() and table.paginator.count == 0
    context = {"table": table, "filter": filtered, "nothing_yet": nothing_yet}
    return render(request, "training/list.html", context)
