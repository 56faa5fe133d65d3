"""The organisation's cost, told apart by department, member or resource, and over time."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_GET

from apps.billing.consumption.costs import Cost, Dimension, Step, Total, costs, dimensions, over_time, total
from apps.billing.consumption.forms import ConsumptionForm, ConsumptionQuery, Period
from apps.billing.days import midnight
from apps.billing.formula import yuan_of
from apps.billing.organisations import file_of_days
from apps.common.access import in_organisation, requires
from apps.common.files import as_attachment
from apps.common.formatting import duration
from apps.common.money import FEN_PER_YUAN, yuan
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.common.spreadsheets import BOM, csv_line

OWN = in_organisation(Permission.BILLING_VIEW_OWN)
# Longer spans are shown by month unless one asks for days.
DAYS_READABLE = timedelta(days=92)


@dataclass(frozen=True, slots=True)
class CostQuery:
    """What the query string asks for; values that cannot be parsed are ignored."""

    asked: ConsumptionQuery
    by: Dimension
    step: Step


def cost_query(request: ActorRequest, form: ConsumptionForm) -> CostQuery:
    asked, allowed = form.asked(), dimensions(request.actor)
    by, step = request.GET.get("by", ""), request.GET.get("step", "")
    long = asked.until - asked.since > DAYS_READABLE
    return CostQuery(
        asked,
        Dimension(by) if by in Dimension.values and Dimension(by) in allowed else allowed[0],
        Step(step) if step in Step.values else (Step.MONTH if long else Step.DAY),
    )


@requires(OWN)
@require_GET
def page(request: ActorRequest) -> HttpResponse:
    form = ConsumptionForm(request.GET)
    view = cost_query(request, form)
    lines = costs(request.actor, filters=view.asked.filters, by=view.by)
    everything = total(request.actor, filters=view.asked.filters)
    dearest = max((line.amount_fen for line in lines), default=0)
    context = {
        "view": view,
        "asked": view.asked,
        "form": form,
        "bad": form.errors,
        "periods": Period.choices,
        "dimensions": [(each.value, each.label) for each in dimensions(request.actor)],
        "steps": Step.choices,
        "rows": [_row(line, everything.amount_fen, dearest) for line in lines],
        "total_fen": everything.amount_fen,
        "strip": _strip(view, lines, everything),
        "tabs": tabs("costs"),
        "everyones": request.actor.may(Permission.BILLING_VIEW),
    }
    return render(request, "billing/costs.html", context, status=400 if form.errors else 200)


def tabs(current: str) -> list[dict[str, Any]]:
    """The two views of consumption."""
    return [
        {"label": _("Runs"), "url": reverse("billing:consumption"), "current": current == "runs"},
        {"label": _("Cost by…"), "url": reverse("billing:consumption_costs"), "current": current == "costs"},
    ]


def _row(line: Cost, total_fen: int, dearest: int) -> dict[str, Any]:
    """Share of the total and width of the bar, in percent; nothing where credits outweigh the charges."""
    share = line.amount_fen * 100 / total_fen if total_fen > 0 else 0
    width = line.amount_fen * 100 // dearest if dearest > 0 and line.amount_fen > 0 else 0
    return {"line": line, "share": share, "width": width}


def _strip(view: CostQuery, lines: list[Cost], everything: Total) -> list[dict[str, Any]]:
    days = (view.asked.until - view.asked.since).days + 1
    fen, counted = everything.amount_fen, {"count": f"{everything.charges:,}"}
    return [
        {"label": _("Charged"), "value": yuan(fen), "sub": _("Charges: %(count)s") % counted},
        {"label": _("Each day"), "value": yuan(fen // days), "sub": _("on average")},
        {"label": _("Metered time"), "value": duration(float(everything.seconds))},
        {
            "label": view.by.label,
            "value": f"{len(lines):,}",
            "sub": _("most: %(name)s") % {"name": lines[0].label} if lines else "",
        },
    ]


@requires(OWN)
@require_GET
def series(request: ActorRequest) -> JsonResponse:
    """The chart: yuan of each day or month, of the dearest lines and of all others."""
    view = cost_query(request, ConsumptionForm(request.GET))
    lines = costs(request.actor, filters=view.asked.filters, by=view.by)
    found = over_time(request.actor, filters=view.asked.filters, by=view.by, step=view.step, lines=lines)
    steps = _steps(view.asked.since, view.asked.until, view.step)
    return JsonResponse(
        [
            {"name": name, "unit": "¥", "points": [[_at(day), fen.get(day, 0) / FEN_PER_YUAN] for day in steps]}
            for name, fen in found
        ],
        safe=False,
    )


def _steps(since: date, until: date, step: Step) -> list[date]:
    """Every day, or the first of every month, of a span."""
    if step is Step.DAY:
        return [since + timedelta(days=n) for n in range((until - since).days + 1)]
    months = range(since.year * 12 + since.month - 1, until.year * 12 + until.month)
    return [date(n // 12, n % 12 + 1, 1) for n in months]


def _at(day: date) -> str:
    return midnight(day).isoformat()


@requires(OWN)
@require_GET
def export(request: ActorRequest) -> HttpResponse:
    """The lines as CSV; the last row is the sum of all charges."""
    view = cost_query(request, ConsumptionForm(request.GET))
    lines = costs(request.actor, filters=view.asked.filters, by=view.by)
    head = [view.by.label, _("Belongs to"), pgettext("number", "Runs"), _("Seconds"), _("Exact ¥"), _("Charged ¥")]
    rows: list[list[Any]] = [
        [line.label, line.sub, line.runs, line.seconds, yuan_of(line.exact_fen), yuan_of(line.amount_fen)]
        for line in lines
    ]
    everything = total(request.actor, filters=view.asked.filters)
    last = _("Total; a run counts under each of its tags") if view.by.overlaps else _("Total")
    rows.append([last, "", "", "", yuan_of(everything.exact_fen), yuan_of(everything.amount_fen)])
    name = file_of_days(f"costs-{view.by}", request.actor.organisation_id, view.asked.since, view.asked.until)
    content = BOM + "".join(map(csv_line, [[str(each) for each in head], *rows]))
    return as_attachment(HttpResponse(content, content_type="text/csv; charset=utf-8"), name)
