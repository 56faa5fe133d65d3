"""The page that registers what a run wrote as a version of a model."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.modelhub import selectors as models
from apps.modelhub.forms import RegisterForm
from apps.storage.views.things import submit_or_rerender
from apps.training import registering, selectors
from apps.training.models import Run
from apps.workloads.permissions import may_change

PAGE = "training/register.html"


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_http_methods(["GET", "POST"])
def register(request: ActorRequest, run_id: UUID) -> HttpResponse:
    """`?path=` proposes a folder or file of the output."""
    actor = request.actor
    actor.require(Permission.MODELS_USE)
    run = selectors.get(actor, run_id)
    may_change(actor, run.workload)
    context = _context(run)
    if request.method != "POST":
        form = RegisterForm(actor=actor, initial={"path": request.GET.get("path", ""), **_named(actor, run)})
        return render(request, PAGE, {**context, "form": form})
    form = RegisterForm(request.POST, actor=actor)

    def do() -> HttpResponse:
        data = form.cleaned_data
        model = models.get_writable(actor, UUID(data["model"])) if data["model"] else None
        version = registering.register(actor, run, data["path"], model=model, name=data["name"], note=data["note"])
        messages.success(request, _("The version is being copied; this page shows when it is ready."))
        return redirect("models:version", version.pk)

    return submit_or_rerender(request, form, PAGE, context, do)


def _named(actor: Actor, run: Run) -> dict[str, Any]:
    """The next version of the actor's model that is called like the run, or a new model of this name."""
    name = registering.suggested_name(run)
    known = models.writable(actor).filter(owner_id=actor.user_id, name=name).first()
    return {"model": str(known.pk)} if known else {"name": name}


def _context(run: Run) -> dict[str, Any]:
    items = selectors.outputs_or_none(run, "")
    return {"run": run, "workload": run.workload, "outputs": (items or [])[:200]}
