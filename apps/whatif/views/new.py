"""A new scenario: its form, rows of changes as they are added, and how much it would replay."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import requires
from apps.common.errors import DomainError
from apps.common.formatting import moment
from apps.common.pages import REFUSED
from apps.common.permissions import Permission as P
from apps.whatif import selectors, services
from apps.whatif.changes import changes_of
from apps.whatif.choices import ChangeKind, Hardware, Source
from apps.whatif.editing import form_values, read_all
from apps.whatif.forms import ChangeForm, ScenarioForm, TraceForm, show_errors
from apps.whatif.models import Scenario
from apps.whatif.replaying.limits import LONGEST, MOST_TASKS
from apps.whatif.requests import (
    StaffRequest,
    ground_of_scenario,
    hardware_for,
    new_row,
    rows_of,
    scope_of,
)
from apps.whatif.scenario_scope import ScenarioScope, uuid_of
from apps.whatif.sizing import size_of, whole_span
from apps.whatif.views.scenarios import MANAGE

FORM = "whatif/new.html"


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    if request.method == "POST":
        return _posted(request)
    earlier = _earlier(request)
    if earlier is not None:
        ground = ground_of_scenario(request.actor, earlier)
        rows = [
            new_row(change.kind, ground, form_values(change))
            for change in changes_of(earlier.changes)
            if change.kind is not ChangeKind.PRICE or request.actor.may(P.PLATFORM_PRICES_VIEW)
        ]
        initial = {"name": earlier.name, "start": earlier.start, "end": earlier.end}
    else:
        ground, rows = scope_of(request.actor, request.GET), []
        start, end = whole_span(ground.source, ground.trace)
        initial = {"name": _("What-if of %(when)s") % {"when": moment(timezone.now())}, "start": start, "end": end}
    form = ScenarioForm(initial={**initial, "plain_nodes": ground.plain_nodes})
    return render(request, FORM, _context(request, ground, form, rows))


def _earlier(request: StaffRequest) -> Scenario | None:
    pk = uuid_of(request.GET.get("from", ""))
    return None if pk is None else selectors.scenario(request.actor, pk)


def _posted(request: StaffRequest) -> HttpResponse:
    ground = scope_of(request.actor, request.POST)
    form, rows = ScenarioForm(request.POST), rows_of(request.POST, ground)
    if form.is_valid() and not any(row.errors for row in rows):
        data = form.cleaned_data
        try:
            changes = read_all([row.typed for row in rows], ground)
            wanted = services.ScenarioSpec(data["name"], ground, data["start"], data["end"], changes)
            scenario = services.create(request.actor, wanted)
        except DomainError as error:
            show_errors(form, rows, error)
        else:
            return redirect("whatif:scenario", scenario.pk)
    return render(request, FORM, _context(request, ground, form, rows), status=REFUSED)


def _context(
    request: StaffRequest, ground: ScenarioScope, form: ScenarioForm, rows: list[ChangeForm]
) -> dict[str, Any]:
    money = request.actor.may(P.PLATFORM_PRICES_VIEW) and ground.from_past
    kinds = [kind for kind in ChangeKind if kind is not ChangeKind.PRICE or money]
    return {
        "ground": ground,
        "form": form,
        "rows": rows,
        "kinds": kinds,
        "sources": list(Source),
        "hardware": hardware_for(ground.source),
        "plain": ground.hardware is Hardware.PLAIN,
        "simulated": ground.hardware is not Hardware.REAL,
        "traces": selectors.trace_list(request.actor) if ground.source is Source.TRACE else (),
        "needs_trace": ground.source is Source.TRACE and ground.trace is None,
        "trace_form": TraceForm(),
        "too_little": ground.from_past
        and not selectors.has_past(request.actor, simulated=ground.hardware is Hardware.SIMULATED),
        "most_days": LONGEST.days,
        "most_tasks": f"{MOST_TASKS:,}",
        "zone": timezone.get_current_timezone_name(),
    }


@requires(MANAGE)
@require_GET
def change(request: StaffRequest) -> HttpResponse:
    """One more row, to be put under the others; nothing for a kind that does not exist."""
    kind = request.GET.get("kind", "")
    if kind not in ChangeKind.values:
        return HttpResponse()
    ground = scope_of(request.actor, request.GET)
    return render(request, "whatif/parts/change.html", {"row": new_row(ChangeKind(kind), ground)})


@requires(MANAGE)
@require_POST
def size(request: StaffRequest) -> HttpResponse:
    """How much the form, as it stands, would replay; or why it could not."""
    ground, form = scope_of(request.actor, request.POST), ScenarioForm(request.POST)
    form.is_valid()
    start, end = form.cleaned_data.get("start"), form.cleaned_data.get("end")
    context: dict[str, Any] = {"most_days": LONGEST.days, "most_tasks": f"{MOST_TASKS:,}"}
    if isinstance(start, datetime) and isinstance(end, datetime):
        try:
            context["size"] = size_of(ground, start, end)
        except DomainError as error:
            context["problem"] = str(error.message)
    return render(request, "whatif/parts/size.html", context)
