"""The tags of a run, changed whether it runs or has ended."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training import selectors
from apps.training.forms import RunTagsForm
from apps.workloads.tagging import set_tags


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_http_methods(["GET", "POST"])
def edit(request: ActorRequest, run_id: UUID) -> HttpResponse:
    """GET: the question for the dialog, or as a page. POST: set them; a refusal shows the page with what was typed."""
    run = selectors.get(request.actor, run_id)
    posted = request.method == "POST"
    form = RunTagsForm(request.POST if posted else None, initial={"tags": run.workload.tags})
    if posted and form.is_valid():
        try:
            set_tags(request.actor, run.workload, form.cleaned_data["tags"])
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("The tags were saved."))
            return redirect("training:detail", run.pk)
    whole = posted or not request.headers.get("HX-Request")
    context = {"form": form, "run": run, "action": reverse("training:tags", args=[run.pk])}
    template = "training/tags.html" if whole else "training/parts/tags.html"
    return render(request, template, context, status=REFUSED if posted else 200)
