"""The list of builds, one build with its steps and its log, and its end."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.billing import selectors as funds
from apps.builds import selectors, services
from apps.builds.models import Build
from apps.builds.tables import BuildFilter, BuildTable
from apps.common.access import in_organisation, requires
from apps.common.errors import Conflict, NotFound
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.workloads import selectors as workloads
from apps.workloads.choices import Status
from apps.workloads.drivers.said import Code, Said
from apps.workloads.logs.files import log_file
from apps.workloads.waiting import queue_card
from apps.workloads.words import sentence

VIEW = in_organisation(Permission.BUILDS_VIEW)
USE = in_organisation(Permission.IMAGES_USE)
STOP_POLLING = 286  # htmx: swap this response and stop polling


@requires(VIEW)
@require_GET
def build_list(request: ActorRequest) -> HttpResponse:
    filtered = BuildFilter(request.GET, queryset=selectors.builds(request.actor), request=request)
    table = BuildTable(filtered.qs, request=request)
    paged(request, table)
    context = {"table": table, "filter": filtered, "nothing_yet": not filtered.form.has_changed() and not table.rows}
    return render(request, "builds/list.html", context)


@requires(VIEW)
@require_GET
def of_workload(request: ActorRequest, workload_id: UUID) -> HttpResponse:
    """The page of the build that a workload belongs to, for links that know the workload alone."""
    build = selectors.builds(request.actor).filter(workload_id=workload_id).first()
    if build is None:
        raise NotFound
    return redirect("builds:detail", build.pk)


@requires(VIEW)
@require_GET
def detail(request: ActorRequest, build_id: UUID) -> HttpResponse:
    build = selectors.get(request.actor, build_id)
    return render(request, "builds/detail.html", page_context(request, build))


@requires(VIEW)
@require_GET
def now(request: ActorRequest, build_id: UUID) -> HttpResponse:
    """What changes of the page while the build lives; the log only once there is one, where `?log=0` says there is
    none."""
    build = selectors.get(request.actor, build_id)
    context = page_context(request, build)
    context["brings_log"] = request.GET.get("log") == "0" and context["has_log"]
    status = HTTPStatus.OK if build.workload.is_live else STOP_POLLING
    return render(request, "builds/parts/now.html", context, status=status)


def page_context(request: ActorRequest, build: Build) -> dict[str, Any]:
    actor, workload = request.actor, build.workload
    attempt = workloads.current_attempt(workload)
    sees_money = actor.may(Permission.BILLING_VIEW_OWN)
    return {
        "build": build,
        "workload": workload,
        "attempt": attempt,
        "has_log": attempt is not None and attempt.handle is not None,
        "log_socket": f"/ws/logs/{workload.pk}/?rank=0&attempt={attempt.number if attempt else 1}",
        "steps": build.steps,
        "failed": failed_step(build),
        "problem": problem_of(build),
        "wait": queue_card(actor, workload) if workload.status == Status.QUEUED else None,
        "cost": funds.workload_cost(actor, workload_id=workload.pk) if sees_money else None,
    }


def problem_of(build: Build) -> str:
    """Why what was built is no image; empty where it is one, or nobody tried."""
    if not build.problem:
        return ""
    said = Said.from_json(build.problem)
    if said.code is Code.NOTHING_CHANGED:
        return _("Its steps changed nothing: the base has all of it already, and can be used as it is.")
    return str(sentence(said))


def failed_step(build: Build) -> dict[str, Any] | None:
    """`line`, `text` and `status` of the step that failed; None where none did."""
    told = None if build.workload.is_live or build.image_id else selectors.result(build)
    if told is None or not told.failed:
        return None
    return {**build.steps[told.failed - 1], "number": told.failed, "status": told.status}


@requires(USE)
@require_http_methods(["GET", "POST"])
def stop(request: ActorRequest, build_id: UUID) -> HttpResponse:
    """GET: the dialog's question. POST: stop it."""
    build = selectors.get(request.actor, build_id)
    if request.method == "POST":
        try:
            services.stop(request.actor, build)
        except Conflict as error:
            messages.warning(request, str(error.message))
        else:
            messages.success(request, _("Asked to stop; it ends within seconds."))
        return redirect("builds:detail", build.pk)
    context = {
        "title": _("Stop building %(name)s?") % {"name": build.title},
        "text": _("No image is made of it. What it held is released, and charging stops."),
        "lost": _("What its steps have done so far"),
        "kept": _("The log and the Containerfile"),
        "undo": _("No; it can be built again from the start"),
        "action": reverse("builds:stop", args=[build.pk]),
        "button": _("Stop the build"),
        "cancel": _("Keep building"),
    }
    return render(request, "components/confirm_body.html", context)


@requires(VIEW)
@require_GET
def log(request: ActorRequest, build_id: UUID) -> HttpResponseBase:
    """The whole log."""
    build = selectors.get(request.actor, build_id)
    attempt = workloads.program(workloads.current_attempt(build.workload), 0)
    name = f"{build.name}-{build.version}.log"
    return log_file(attempt, name=name, visible=lambda actor: selectors.get(actor, build_id))
