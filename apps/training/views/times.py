"""Change how long a run may run, and when its idle cards end it, while it lives."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import in_organisation, requires
from apps.common.durations import duration_text
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training import selectors
from apps.training.forms import GpuIdleForm, LongestForm
from apps.workloads.gpu_idleness import set_gpu_idle
from apps.workloads.longest import set_longest


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_http_methods(["GET", "POST"])
def longest(request: ActorRequest, run_id: UUID) -> HttpResponse:
    """GET: the question for the dialog, or as a page. POST: set it; a refusal shows the page with the reason."""
    run = selectors.get(request.actor, run_id)
    posted = request.method == "POST"
    form = LongestForm(request.POST if posted else None, initial={"longest": duration_text(run.workload.longest_s)})
    if posted and form.is_valid():
        try:
            set_longest(request.actor, run.workload, form.cleaned_data["longest"])
        except DomainError as error:
            show_error(form, error)
        else:
            said = _("The longest run time was set.") if form.cleaned_data["longest"] else _("No longest run time now.")
            messages.success(request, said)
            return redirect("training:detail", run.pk)
    whole = posted or not request.headers.get("HX-Request")
    context = {"form": form, "run": run, "action": reverse("training:longest", args=[run.pk])}
    template = "training/longest.html" if whole else "training/parts/longest.html"
    return render(request, template, context, status=REFUSED if posted else 200)


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_http_methods(["GET", "POST"])
def gpu_idle(request: ActorRequest, run_id: UUID) -> HttpResponse:
    """As `longest`, for the rule of idle cards."""
    run = selectors.get(request.actor, run_id)
    posted, minutes = request.method == "POST", run.workload.gpu_idle_minutes
    before = duration_text(None if minutes is None else 60 * minutes)
    form = GpuIdleForm(request.POST if posted else None, initial={"gpu_idle": before})
    if posted and form.is_valid():
        try:
            set_gpu_idle(request.actor, run.workload, form.minutes())
        except DomainError as error:
            show_error(form, error)
        else:
            never = form.minutes() is None
            said = _("It runs on while its GPU is idle.") if never else _("It stops when its GPU stands idle.")
            messages.success(request, said)
            return redirect("training:detail", run.pk)
    whole = posted or not request.headers.get("HX-Request")
    context = {"form": form, "run": run, "action": reverse("training:gpu_idle", args=[run.pk])}
    template = "training/gpu_idle.html" if whole else "training/parts/gpu_idle.html"
    return render(request, template, context, status=REFUSED if posted else 200)
