"""What compared runs are made of and what they wrote: their code line by line, their pictures side by side."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training.comparing.code_diff import code_diff
from apps.training.comparing.pictures import pictures
from apps.training.metric_pages import chosen_runs
from apps.training.models import Run
from apps.training.views.curves import ids

VIEW = in_organisation(Permission.TRAINING_VIEW)


@requires(VIEW)
@require_GET
def code(request: ActorRequest) -> HttpResponse:
    """`?run=…` those that are compared; `?base=` and `?other=` of them, the first two by default."""
    chosen = chosen_runs(request.actor, ids(request.GET.getlist("run")), least=2)
    base = _picked(chosen, request.GET.get("base", ""), chosen[0])
    other = _picked(chosen, request.GET.get("other", ""), next(run for run in chosen if run != base))
    context = {"runs": chosen, "base": base, "other": other, "diff": code_diff(base, other)}
    return render(request, _template(request, "code"), context)


@requires(VIEW)
@require_GET
def outputs(request: ActorRequest) -> HttpResponse:
    """`?run=…`: pictures that several of them have."""
    chosen = chosen_runs(request.actor, ids(request.GET.getlist("run")), least=2)
    return render(request, _template(request, "pictures"), {"runs": chosen, "found": pictures(chosen)})


def _picked(chosen: list[Run], text: str, usual: Run) -> Run:
    return next((run for run in chosen if str(run.pk) == text), usual)


def _template(request: ActorRequest, name: str) -> str:
    whole = not request.headers.get("HX-Request")
    return f"training/comparing/{name}_page.html" if whole else f"training/comparing/{name}.html"
