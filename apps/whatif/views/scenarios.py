"""Scenarios: the list, one with its progress or its figures, cancelling, deleting, taking the tasks along."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, NotFound
from apps.common.pages import paged, say_refusal
from apps.common.permissions import Permission as P
from apps.whatif import selectors, services
from apps.whatif.changes import changes_of
from apps.whatif.choices import Source
from apps.whatif.comparing import bars, by_organisation, figures
from apps.whatif.conclusion import conclusion
from apps.whatif.models import Scenario
from apps.whatif.requests import StaffRequest
from apps.whatif.tables import ScenarioTable
from apps.whatif.words import chips, failure

VIEW = on_platform(P.PLATFORM_NODES_VIEW)
MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
BOM = "\ufeff".encode()  # without it, spreadsheets read UTF-8 as something else
SERIES = {
    "allocation": gettext_lazy("Cards handed out"),
    "fragmentation": gettext_lazy("Lost in fragments"),
    "waiting": gettext_lazy("Tasks waiting"),
}


@requires(VIEW)
@require_GET
def scenario_list(request: StaffRequest) -> HttpResponse:
    table = ScenarioTable(selectors.listed(request.actor))
    paged(request, table)
    context = {
        "table": table,
        "may_manage": request.actor.may(P.PLATFORM_NODES_MANAGE),
        "open": any(row.record.is_open for row in table.page.object_list),
        "starts": _starts(request.actor) if not table.rows else [],
        "has_past": selectors.has_past(request.actor, simulated=False),
    }
    return render(request, "whatif/list.html", context)


def _starts(actor: Actor) -> list[dict[str, Any]]:
    """Ways to begin, those with something to replay first."""
    if not actor.may(P.PLATFORM_NODES_MANAGE):
        return []
    new = reverse("whatif:new")
    ways = [
        {
            "url": f"{new}?source={Source.HISTORY}",
            "icon": "history",
            "name": _("The platform's own past"),
            "sub": _("Real arrivals, real run times"),
        },
        {
            "url": f"{new}?source={Source.SAMPLE}",
            "icon": "flask-2",
            "name": _("Sample trace"),
            "sub": _("A made-up week on simulated cards"),
        },
        {
            "url": f"{new}?source={Source.TRACE}",
            "icon": "upload",
            "name": _("A trace of your own"),
            "sub": _("CSV, also in the format of the Philly trace"),
        },
    ]
    return ways if selectors.has_past(actor, simulated=False) else [ways[1], ways[2], ways[0]]


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, scenario_id: UUID) -> HttpResponse:
    scenario = selectors.scenario(request.actor, scenario_id)
    money = request.actor.may(P.PLATFORM_FINANCE_VIEW)
    context: dict[str, Any] = {
        "scenario": scenario,
        "chips": chips(changes_of(scenario.changes), money=request.actor.may(P.PLATFORM_PRICES_VIEW)),
        "may_manage": request.actor.may(P.PLATFORM_NODES_MANAGE),
        "percent": round(100 * scenario.progress),
        "failure": failure(scenario),
        "url": request.get_full_path(),
    }
    if scenario.result:
        context |= _figures(scenario, money=money)
    response = render(request, "whatif/detail.html", context)
    if request.headers.get("HX-Request") and not scenario.is_open:
        response.headers["HX-Refresh"] = "true"  # the figures are another page than the progress
    return response


def _figures(scenario: Scenario, *, money: bool) -> dict[str, Any]:
    result = scenario.result
    lines, organisations = figures(result, money=money), by_organisation(result, money=money)
    return {
        "result": result,
        "figures": lines,
        "organisations": organisations,
        "conclusion": conclusion(lines, organisations),
        "bars": list(bars(result)),
        "charts": [
            {"name": name, "title": title, "url": reverse("whatif:series", args=[scenario.pk, name])}
            for name, title in SERIES.items()
        ],
        "money": money and result["priced"],
    }


@requires(VIEW)
@require_GET
def series(request: StaffRequest, scenario_id: UUID, name: str) -> HttpResponse:
    """A chart's lines, A and B."""
    scenario = selectors.scenario(request.actor, scenario_id)
    if name not in SERIES or not scenario.result:
        raise NotFound
    unit = "" if name == "waiting" else "%"
    lines = [
        {"name": side.upper(), "unit": unit, "points": list(zip(found["at"], found[name], strict=True))}
        for side in ("a", "b")
        for found in (scenario.result[side]["series"],)
    ]
    return JsonResponse(lines, safe=False)


@requires(VIEW)
@require_GET
def tasks(request: StaffRequest, scenario_id: UUID) -> HttpResponse:
    """Every task on both sides, as CSV."""
    scenario = selectors.scenario(request.actor, scenario_id)
    response = HttpResponse(
        BOM + selectors.tasks_csv(request.actor, scenario_id), content_type="text/csv; charset=utf-8"
    )
    name = f"what-if-{scenario.created_at:%Y%m%d-%H%M}.csv"
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response.headers["Cache-Control"] = "private, no-store"
    return response


@requires(MANAGE)
@require_POST
def cancel(request: StaffRequest, scenario_id: UUID) -> HttpResponse:
    try:
        services.cancel(request.actor, scenario_id)
    except Conflict as error:
        say_refusal(request, error)
    else:
        messages.success(request, _("Cancelled."))
    return redirect("whatif:scenario", scenario_id)


@requires(MANAGE)
@require_POST
def delete(request: StaffRequest, scenario_id: UUID) -> HttpResponseRedirect:
    try:
        services.delete(request.actor, scenario_id)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("whatif:scenario", scenario_id)
    messages.success(request, _("The scenario is deleted."))
    return redirect("whatif:list")
