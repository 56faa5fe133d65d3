"""What one can do with a schedule: pause, resume, run now, delete."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.pages import done, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.schedules import selectors, services
from apps.schedules.models import Schedule
from apps.workloads.launching.form import new_key

USE = in_organisation(Permission.TRAINING_SUBMIT)


@requires(USE)
@require_GET
def ask(request: ActorRequest, schedule_id: UUID, name: str) -> HttpResponse:
    """The question before `delete`, for the page's dialog."""
    schedule = selectors.get(request.actor, schedule_id)
    if name != "delete":
        raise Http404
    return render(request, "components/confirm_body.html", _delete_question(schedule))


def _delete_question(schedule: Schedule) -> dict[str, Any]:
    return {
        "title": _("Delete the schedule %(name)s?") % {"name": schedule.name},
        "text": _("Nothing is started by it any more."),
        "lost": _("The schedule and its history"),
        "kept": _("The runs that it has started, and the run that it repeats"),
        "undo": _("No. To stop it for a while, pause it"),
        "action": reverse("schedules:delete", args=[schedule.pk]),
        "button": _("Delete"),
    }


@requires(USE)
@require_POST
def pause(request: ActorRequest, schedule_id: UUID) -> HttpResponse:
    schedule = selectors.get(request.actor, schedule_id)
    try:
        services.pause(request.actor, schedule)
    except DomainError as error:
        return _refused(request, schedule, error)
    return done(request, _("Paused. What runs goes on."), "schedules:detail", schedule.pk)


@requires(USE)
@require_POST
def resume(request: ActorRequest, schedule_id: UUID) -> HttpResponse:
    schedule = selectors.get(request.actor, schedule_id)
    try:
        services.resume(request.actor, schedule)
    except DomainError as error:
        return _refused(request, schedule, error)
    return done(request, _("It is active again from its next moment on."), "schedules:detail", schedule.pk)


@requires(USE)
@require_POST
def run_now(request: ActorRequest, schedule_id: UUID) -> HttpResponse:
    schedule = selectors.get(request.actor, schedule_id)
    services.run_now(request.actor, schedule, request.POST.get("key", "")[:64] or new_key())
    told = _("It starts within seconds; the history tells how that went.")
    return done(request, told, "schedules:detail", schedule.pk)


@requires(USE)
@require_POST
def delete(request: ActorRequest, schedule_id: UUID) -> HttpResponse:
    schedule = selectors.get(request.actor, schedule_id)
    services.delete(request.actor, schedule)
    return done(request, _("%(name)s has been deleted.") % {"name": schedule.name}, "schedules:list")


def _refused(request: ActorRequest, schedule: Schedule, error: DomainError) -> HttpResponse:
    say_refusal(request, error)
    return redirect("schedules:detail", schedule.pk)
