"""The list, one schedule with its history, and the form with the moments that it names while one types."""

import re
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.billing.days import BILLING_ZONE
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError, Invalid, NotFound
from apps.common.forms import show_error
from apps.common.pages import REFUSED, done, paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.schedules import selectors, services
from apps.schedules.choices import SHOWN_MOMENTS
from apps.schedules.cron.expression import read_cron
from apps.schedules.cron.moments import next_moments, require_moments
from apps.schedules.cron.words import cron_words
from apps.schedules.forms import ScheduleForm, initial_of
from apps.schedules.history import StartTable, describe_page
from apps.schedules.models import Schedule
from apps.schedules.tables import ScheduleFilter, ScheduleTable, state_badge, what_starts
from apps.schedules.targets import RUN, Described, target_of, targets
from apps.training import selectors as training
from apps.training.choices import KIND
from apps.training.models import Run
from apps.workloads.offers import quotecard
from apps.workloads.offers.quoting import offer

VIEW = in_organisation(Permission.TRAINING_VIEW)
USE = in_organisation(Permission.TRAINING_SUBMIT)


@requires(VIEW)
@require_GET
def schedule_list(request: ActorRequest) -> HttpResponse:
    rows = selectors.schedules(request.actor)
    filtered = ScheduleFilter(request.GET, queryset=rows, request=request)
    table = ScheduleTable(filtered.qs, request=request)
    paged(request, table)
    nothing_yet = not filtered.form.has_changed() and not table.paginator.count
    context = {"table": table, "filter": filtered, "nothing_yet": nothing_yet}
    return render(request, "schedules/list.html", context)


@requires(VIEW)
@require_GET
def detail(request: ActorRequest, schedule_id: UUID) -> HttpResponse:
    schedule = selectors.get(request.actor, schedule_id)
    table = StartTable(selectors.starts(schedule), request=request)
    paged(request, table)
    describe_page(table, schedule)
    context = {
        "schedule": schedule,
        "found": _found(request.actor, schedule),
        "badge": state_badge(schedule),
        "what_starts": what_starts(schedule),
        "kind": target_of(schedule.target).label,
        "table": table,
        "may_act": request.actor.may(Permission.TRAINING_SUBMIT),
        **moments_of(schedule.cron, schedule),
    }
    return render(request, "schedules/detail.html", context)


def _found(actor: Actor, schedule: Schedule) -> Described | None:
    """What it starts; None once that is gone, or not seen any more."""
    try:
        return target_of(schedule.target).find(actor, schedule.object_id)
    except NotFound:
        return None


def moments_of(text: str, schedule: Schedule | None = None) -> dict[str, Any]:
    """The expression in words with its next moments, within the schedule's time; or what is wrong with it."""
    now = db_now()
    after, until = now, None
    if schedule is not None:
        after, until = max(now, schedule.from_at or now), schedule.until_at
    try:
        cron = read_cron(text)
        require_moments(cron, now, BILLING_ZONE)
    except Invalid as error:
        return {"problem": error.message, "zone": BILLING_ZONE.key}
    found = next_moments(cron, after, BILLING_ZONE, SHOWN_MOMENTS)
    return {
        "words": cron_words(cron),
        "moments": [each.astimezone(BILLING_ZONE) for each in found if until is None or each <= until],
        "zone": BILLING_ZONE.key,
    }


@requires(USE)
@require_GET
def moments(request: ActorRequest) -> HttpResponse:
    """What `?cron=` means, for the form while one types."""
    text = request.GET.get("cron", "")
    return render(request, "schedules/parts/moments.html", moments_of(text) if text.strip() else {})


@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """Of the run `?run=`, or of what else can be started: `?pipeline=`."""
    target = next((name for name in targets() if name in request.GET), RUN)
    target_id = _uuid(request.GET.get(target, ""))
    found = target_of(target).find(request.actor, target_id)
    form = ScheduleForm(request.POST or None, initial={"name": _first_name(found.name), "cron": "0 2 * * *"})
    if request.method == "POST" and form.is_valid():
        try:
            made = services.create(request.actor, target_id, form.plan(), target=target)
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The schedule is active."), "schedules:detail", made.pk)
    return _form(request, form, target, target_id)


@requires(USE)
@require_http_methods(["GET", "POST"])
def edit(request: ActorRequest, schedule_id: UUID) -> HttpResponse:
    schedule = selectors.get(request.actor, schedule_id)
    form = ScheduleForm(request.POST or None, initial=initial_of(schedule))
    if request.method == "POST" and form.is_valid():
        try:
            services.change(request.actor, schedule, form.plan())
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("Saved."), "schedules:detail", schedule.pk)
    return _form(request, form, schedule.target, schedule.object_id, schedule)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound from error


def _first_name(target: str) -> str:
    """Without its version, which each start raises."""
    return re.sub(r" v\d+$", "", target)


def _form(
    request: ActorRequest, form: ScheduleForm, target: str, target_id: UUID, schedule: Schedule | None = None
) -> HttpResponse:
    run = training.get(request.actor, target_id) if target == RUN else None
    context = {
        "form": form,
        "run": run,
        "found": target_of(target).find(request.actor, target_id),
        "schedule": schedule,
        "quote": _quote(request.actor, run) if run is not None else None,
        "cancel_url": reverse("schedules:detail", args=[schedule.pk]) if schedule else reverse("schedules:list"),
        **moments_of(str(form["cron"].value() or "")),
    }
    return render(request, "schedules/form.html", context, status=REFUSED if form.is_bound else 200)


def _quote(actor: Actor, run: Run) -> dict[str, Any]:
    """What one start costs today."""
    try:
        card = quotecard.card(actor, offer(actor, run.workload.package, kind=KIND, members=run.workload.member_count))
    except DomainError as error:
        card = {"problem": {"title": str(error.message), "text": str(error.hint)}}
    return {**card, "label": _("What one start costs"), "icon": "repeat"}
