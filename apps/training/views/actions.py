"""What one can do with a run: stop it, run it again; each asks first, in a dialog that names what follows."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError
from apps.common.pages import say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training import selectors, services
from apps.training.checkpoints import has_any
from apps.training.choices import KIND
from apps.training.continuing import SAME, Start, newest_start, start_options
from apps.training.git.origin import origin_of
from apps.training.models import Run
from apps.training.switching import start_instead
from apps.training.views.retention import QUESTIONS
from apps.workloads.choices import Status
from apps.workloads.launching.form import new_key
from apps.workloads.offers import quotecard
from apps.workloads.offers.quoting import offer
from apps.workloads.offers.switching import package_number

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)


@requires(SUBMIT)
@require_GET
def ask(request: ActorRequest, run_id: UUID, name: str) -> HttpResponse:
    """The confirmation of `stop`, `rerun`, `continue`, `archive`, `unarchive` or `delete`, for the page's dialog."""
    run = selectors.get(request.actor, run_id)
    if name == "stop":
        return render(request, "components/confirm_body.html", stop_question(run))
    if name in QUESTIONS:
        return render(request, "components/confirm_body.html", QUESTIONS[name](request.actor, run))
    if name in ("rerun", "continue"):
        question = rerun_question(request.actor, run, continues=name == "continue")
        return render(request, "training/parts/rerun.html", question)
    raise Http404


def stop_question(run: Run) -> dict[str, Any]:
    action = reverse("training:stop", args=[run.pk])
    if run.workload.status == Status.QUEUED:
        return {
            "title": _("Take %(name)s out of the queue?") % {"name": run.name},
            "text": _("It ends before it has started. Nothing was charged, and what is held is released."),
            "undo": _("No; it can be run again, at the end of the queue"),
            "action": action,
            "button": _("Take out"),
            "cancel": _("Keep waiting"),
        }
    return {
        "title": _("Stop %(name)s?") % {"name": run.name},
        "text": _("The program gets 20 seconds to save and end. Its resources are released and charging stops."),
        "lost": _("What the program has not written by then"),
        "kept": _("The log, the metrics and every file in the output folder"),
        "undo": (
            _("No; it can be continued from its last checkpoint")
            if has_any(run)
            else _("No; it can be run again from the start")
        ),
        "action": action,
        "button": _("Stop training"),
        "cancel": _("Keep training"),
    }


def rerun_question(actor: Actor, run: Run, *, continues: bool) -> dict[str, Any]:
    """Today's price and what is short, before the same is run again, and from where it can begin."""
    try:
        card = quotecard.card(actor, offer(actor, run.workload.package, kind=KIND))
    except DomainError as error:
        card = {"problem": {"title": str(error.message), "text": str(error.hint)}, "blocked": True}
    starts = start_options(run)
    return {
        "run": run,
        "next_version": selectors.newest_version(run) + 1,
        "quote": card,
        "key": new_key(),
        "starts": starts,
        "start": newest_start(starts) if continues else starts[0].value,
        "continues": continues,
        "commit": origin_of(run.code),
        "longest_s": services.request_of(run, key="").longest_s,
    }


@requires(SUBMIT)
@require_POST
def stop(request: ActorRequest, run_id: UUID) -> HttpResponse:
    run = selectors.get(request.actor, run_id)
    try:
        workload = services.stop(request.actor, run)
    except Conflict as error:
        messages.warning(request, str(error.message))
    else:
        ended = workload.status == Status.STOPPED
        messages.success(
            request, _("Taken out of the queue.") if ended else _("Asked to stop; it ends within seconds.")
        )
    return redirect("training:detail", run.pk)


@requires(SUBMIT)
@require_POST
def rerun(request: ActorRequest, run_id: UUID) -> HttpResponse:
    """Run it again, from `checkpoint` as `Start` has it; a refusal (no money, no quota) is shown on the page."""
    run = selectors.get(request.actor, run_id)
    start = Start(request.POST.get("checkpoint", "")[:300] or SAME.value)
    try:
        again = services.rerun(request.actor, run, key=request.POST.get("key", "")[:64] or new_key(), start=start)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("training:detail", run.pk)
    messages.success(request, _("Submitted as version %(version)s.") % {"version": again.version})
    return redirect("training:detail", again.pk)


@requires(SUBMIT)
@require_POST
def instead(request: ActorRequest, run_id: UUID) -> HttpResponse:
    """Switch to another package, on which it starts now; a refusal leaves it in its place and says why."""
    run = selectors.get(request.actor, run_id)
    key = request.POST.get("key", "")[:64] or new_key()
    try:
        started = start_instead(request.actor, run, package_id=package_number(request.POST.get("package", "")), key=key)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("training:detail", run.pk)
    messages.success(
        request, _("Submitted as version %(version)s on the other package.") % {"version": started.version}
    )
    return redirect("training:detail", started.pk)
