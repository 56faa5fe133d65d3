"""Change the most that a run may cost while it lives."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.billing.caps.selectors import cap_of
from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training import selectors
from apps.training.forms import CapForm
from apps.workloads.offers.cap_quote import yuan_text
from apps.workloads.services import set_cap


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_http_methods(["GET", "POST"])
def cap(request: ActorRequest, run_id: UUID) -> HttpResponse:
    """GET: the question for the dialog, or as a page. POST: set it; a refusal shows the page with the reason."""
    run = selectors.get(request.actor, run_id)
    found = cap_of(run.workload_id)
    form = CapForm(request.POST or None, initial={"cap": yuan_text(found.limit_fen) if found else ""})
    if request.method == "POST" and form.is_valid():
        try:
            set_cap(request.actor, run.workload, form.cleaned_data["cap"])
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("The spending cap was set.") if form.cleaned_data["cap"] else _("No cap now."))
            return redirect("training:detail", run.pk)
    whole = request.method == "POST" or not request.headers.get("HX-Request")
    context = {"form": form, "run": run, "cap": found, "action": reverse("training:cap", args=[run.pk])}
    template = "training/cap.html" if whole else "training/parts/cap.html"
    return render(request, template, context, status=REFUSED if request.method == "POST" else 200)
