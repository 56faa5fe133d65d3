"""The passport of a run, by link, for everybody in its organisation."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training import forking, passport, selectors
from apps.workloads.choices import Status
from apps.workloads.faults import advise


@requires(in_organisation(Permission.TRAINING_VIEW))
@require_GET
def show(request: ActorRequest, run_id: UUID) -> HttpResponse:
    """To read; who may clone the run finds the buttons for it, colleagues the one that makes it a run of theirs."""
    run = selectors.of_organisation(request.actor, run_id)
    found = passport.passport_of(request.actor, run)
    context = {
        "run": run,
        "workload": run.workload,
        "found": found,
        "may_fork": found.full and request.actor.may(Permission.TRAINING_SUBMIT),
        "may_copy": not found.full and request.actor.may(Permission.TRAINING_SUBMIT),
        "may_share": run.owner_id == request.actor.user_id and request.actor.may(Permission.TRAINING_SUBMIT),
        "ended_because": advise(run.workload).title if found.full and run.workload.status == Status.FAILED else "",
        "definition": passport.definition_rows(found),
        "place": passport.place_rows(found),
        "seeds": passport.seed_rows(found),
        "digests": passport.digest_rows(found),
    }
    return render(request, "training/passport.html", context)


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_POST
def share(request: ActorRequest, run_id: UUID) -> HttpResponse:
    """Share its code with who forks it (`shared` is 1), or not any more."""
    run = selectors.get(request.actor, run_id)
    shared = request.POST.get("shared") == "1"
    forking.share_code(request.actor, run, shared=shared)
    said = _("Colleagues who fork it get its code.") if shared else _("Its code is not shared any more.")
    messages.success(request, said)
    return redirect("training:passport", run.pk)
