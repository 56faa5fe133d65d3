"""Runs side by side. Its address says which, and how they are shown."""

from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import in_organisation, requires
from apps.common.errors import Invalid
from apps.common.pages import say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training.comparing.axes import parallel_of
from apps.training.comparing.table import costs_of, sections
from apps.training.metric_pages import chosen_runs
from apps.training.saved_views.selectors import shown_view
from apps.training.views.curves import ids


@requires(in_organisation(Permission.TRAINING_VIEW))
@require_http_methods(["GET", "POST"])
def compare(request: ActorRequest) -> HttpResponse:
    """POST: the rows that were ticked in the list, `id`, to the address of their comparison. GET: `?run=…`."""
    try:
        if request.method == "POST":
            if request.POST.get("all"):
                raise Invalid.field("runs", _("Tick the runs one by one: a comparison shows at most fifty."))
            chosen = chosen_runs(request.actor, ids(request.POST.getlist("id")), least=2)
            asked = urlencode([("run", run.pk) for run in chosen])
            return redirect(f"{reverse('training:compare')}?{asked}")
        chosen = chosen_runs(request.actor, ids(request.GET.getlist("run")), least=2)
    except Invalid as error:
        say_refusal(request, error)
        return redirect("training:list")
    query = urlencode([("run", run.pk) for run in chosen])
    costs = costs_of(request.actor, chosen)
    page = {
        "runs": chosen,
        "parallel": parallel_of(request.actor, chosen, costs),
        "sections": sections(request.actor, chosen, costs),
        "query": query,
        "columns": len(chosen) + 1,
        "everything": request.GET.get("all") == "1",
        "view": shown_view(request.actor, request.GET.get("view", "")),
        "live": " ".join(f"workload.{run.workload_id}" for run in chosen if run.workload.is_live),
    }
    return render(request, "training/compare.html", page)
