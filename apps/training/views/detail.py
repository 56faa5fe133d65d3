"""One run: its page, the parts that refresh while it runs, what one can do with it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.billing import selectors as funds
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError
from apps.common.permissions import Permission
from apps.storage import services as storage
from apps.training import command, selectors, services
from apps.training.forms import new_key
from apps.training.models import Run
from apps.training.series import series_of
from apps.workloads import faults
from apps.workloads import selectors as workloads
from apps.workloads.choices import Status
from apps.workloads.waiting import explain_wait

VIEW = in_organisation(Permission.TRAINING_VIEW)
SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
TABS = ("overview", "log", "output", "events", "cost", "settings")
# What the browser asks for again when the run's events arrive.
PARTS = ("header", "overview", "cost", "output", "events")


@requires(VIEW)
@require_GET
def detail(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """`?tab=` chooses the tab, `?path=` a folder of the outputs."""
    tab = request.GET.get("tab", "overview")
    context = page_context(request.actor, run_id, request.GET.get("path", ""))
    return render(request, "training/detail.html", {**context, "tab": tab if tab in TABS else "overview"})


@requires(VIEW)
@require_GET
def part(request: HttpRequest, run_id: UUID, name: str) -> HttpResponse:
    """One part of the page as it is now, for the live refresh."""
    if name not in PARTS:
        return HttpResponse(status=404)
    context = page_context(request.actor, run_id, request.GET.get("path", ""))
    return render(request, f"training/parts/{name}.html", context)


def page_context(actor: Actor, run_id: UUID, path: str = "") -> dict[str, Any]:
    """Everything that the detail page shows."""
    run = selectors.get(actor, run_id)
    workload = run.workload
    attempts = workloads.attempts(workload)
    attempt = attempts[0] if attempts else None
    return {
        "run": run,
        "workload": workload,
        "attempt": attempt,
        "attempts": attempts,
        "stale": attempt is not None and workloads.is_stale(attempt),
        "steps": startup_steps(run),
        "wait": explain_wait(actor, workload) if workload.status == Status.QUEUED else None,
        "failure": faults.card(workload, attempt),
        "cost": funds.workload_cost(actor, workload_id=workload.pk),
        "events": workloads.events(workload),
        "command": command.preview(workload.frozen_spec.argv),
        "versions": selectors.versions(actor, run)[:20],
        "outputs": _outputs(run, path),
        "path": path,
        "code_files": storage.file_names(run.code),
        "rerun_key": new_key(),
    }


def _outputs(run: Run, path: str) -> list[Any]:
    try:
        return list(selectors.outputs(run, path))
    except DomainError:
        return []


def startup_steps(run: Run) -> list[dict[str, Any]]:
    """Steps of the start-up with their seconds, the usual ones, and which is under way."""
    workload, attempt = run.workload, workloads.current_attempt(run.workload)
    took, usual = workloads.startup_seconds(workload, attempt), workloads.usual_startup_seconds(workload)
    names = {"queue": _("Queue"), "image": _("Runtime"), "mount": _("Files"), "ready": _("Ready")}
    current = "queue" if workload.status in (Status.QUEUED, Status.PLACED) else attempt.phase if attempt else ""
    running = attempt is not None and attempt.started_at is not None
    return [
        {
            "key": key,
            "label": label,
            "seconds": took.get(key),
            "usual": usual.get(key),
            "current": workload.is_live and not running and key == current,
            "done": key in took and (running or key != current),
        }
        for key, label in names.items()
    ]


@requires(SUBMIT)
@require_POST
def stop(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = selectors.get(request.actor, run_id)
    try:
        services.stop(request.actor, run)
    except Conflict as error:
        messages.warning(request, str(error.message))
    return redirect("training:detail", run.pk)


@requires(SUBMIT)
@require_POST
def rerun(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The same again; a refusal (no money, no quota) comes back to the page in words."""
    run = selectors.get(request.actor, run_id)
    try:
        again = services.rerun(request.actor, run, key=request.POST.get("key", "")[:64] or new_key())
    except DomainError as error:
        messages.error(request, " ".join(filter(None, (str(error.message), str(error.hint)))))
        return redirect("training:detail", run.pk)
    return redirect("training:detail", again.pk)


@requires(VIEW)
@require_GET
def metrics(request: HttpRequest, run_id: UUID, name: str) -> JsonResponse:
    """Points of one chart newer than `?since=` (Unix seconds)."""
    run = selectors.get(request.actor, run_id)
    try:
        since = float(request.GET.get("since", 0))
    except ValueError:
        since = 0.0
    chart = series_of(run, name, since)
    return JsonResponse(chart, safe=False) if chart is not None else JsonResponse({}, status=404)
