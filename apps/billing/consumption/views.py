"""What the money went to: by day, by run, down to one charge and how it comes about."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import Count, QuerySet, Sum
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.billing.consumption.cost_views import tabs
from apps.billing.consumption.forms import ConsumptionForm, ConsumptionQuery, Period, days_of
from apps.billing.consumption.runpages import page_of_runs
from apps.billing.consumption.selectors import (
    ChargeFilter,
    WorkloadCost,
    charges,
    consumption_by_day,
    session_days,
    workload_cost,
)
from apps.billing.consumption.spending import charged, unrated
from apps.billing.days import midnight
from apps.billing.funds.wallets import wallet
from apps.billing.models import Charge
from apps.billing.statements.agreement import agreement_of_months
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.formatting import duration
from apps.common.money import FEN_PER_YUAN, yuan, yuan_rate
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.common.tables import pager

OWN = in_organisation(Permission.BILLING_VIEW_OWN)
CHARGES_PER_PAGE = 50
# Charges shown inside the list; the run's own page has the others.
INLINE = 20


@requires(OWN)
@require_GET
def consumption(request: ActorRequest) -> HttpResponse:
    """`?run=` opens a run's charges, `?charge=` shows how one of them comes about."""
    actor = request.actor
    form = ConsumptionForm(request.GET)
    asked = form.asked()
    totals = _totals(actor, asked)
    page = page_of_runs(actor, asked, number=request.GET.get("page"), count=totals["runs"])
    opened = _opened(actor, asked, _uuid(request.GET.get("run")))
    context = {
        "form": _shown(form, asked),
        "asked": asked,
        "periods": Period.choices,
        "strip": _strip(actor, asked, totals),
        "totals": totals,
        "table": pager(page),
        "opened": opened,
        "charge": _charge(actor, request.GET.get("charge")),
        "everyones": actor.may(Permission.BILLING_VIEW),
        "bad": form.errors,
        "tabs": tabs("runs"),
    }
    return render(request, "billing/consumption.html", context, status=400 if form.errors else 200)


def _shown(form: ConsumptionForm, asked: ConsumptionQuery) -> ConsumptionForm:
    """The bar with the days that are in force, so that a named period can be moved from there. Errors keep theirs."""
    if form.errors:
        return form
    return ConsumptionForm(
        {"q": asked.text, "since": asked.since.isoformat(), "until": asked.until.isoformat(), "order": asked.order}
    )


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        return None


def _totals(actor: Actor, asked: ConsumptionQuery) -> dict[str, Any]:
    """amount_fen, exact_fen, seconds and number of runs of all that was asked for; zeros when there is nothing."""
    sums = asked.narrow(session_days(actor, filters=asked.filters)).aggregate(
        amount_fen=Sum("amount_fen"),
        exact_fen=Sum("exact_fen"),
        seconds=Sum("seconds"),
        runs=Count("session__workload_id", distinct=True),
    )
    return {name: value or Decimal(0) for name, value in sums.items()}


def _opened(actor: Actor, asked: ConsumptionQuery, workload_id: UUID | None) -> dict[str, Any] | None:
    """The newest charges of the run that is open, within the days asked for."""
    if workload_id is None:
        return None
    rows = charges(actor, filters=replace(asked.filters, workload_id=workload_id))
    count = rows.count()
    return {"workload_id": workload_id, "charges": list(rows[:INLINE]), "count": count, "more": count > INLINE}


def _charge(actor: Actor, text: str | None) -> Charge | None:
    if not text or not text.isascii() or not text.isdigit() or len(text) > 18:
        return None
    return charges(actor).filter(pk=int(text)).select_related("run__transfer", "session", "price_version").first()


def _strip(actor: Actor, asked: ConsumptionQuery, totals: dict[str, Any]) -> list[dict[str, Any]]:
    pending = unrated(actor)
    cells: list[dict[str, Any]] = [
        {
            "label": _("Charged"),
            "value": yuan(int(totals["amount_fen"])),
            "sub": _("exactly %(amount)s") % {"amount": _exact(totals["exact_fen"])},
        },
        {
            "label": _("Metered time"),
            "value": duration(float(totals["seconds"])),
            "sub": _("Runs: %(count)s") % {"count": f"{totals['runs']:,}"},
        },
        {
            "label": _("Not charged yet"),
            "value": _exact(pending),
            "sub": _("Running work is charged about every minute"),
        },
    ]
    if actor.may(Permission.BILLING_VIEW):
        cells.append(_agreement(actor, asked))
    else:
        rate = wallet(actor).burn_fen_per_hour
        cells.append({"label": _("The organisation now"), "value": yuan_rate(rate), "sub": _("Everything that runs")})
    return cells


def _agreement(actor: Actor, asked: ConsumptionQuery) -> dict[str, Any]:
    found = agreement_of_months(actor, since=asked.since, until=asked.until, organisation_id=actor.organisation())
    return {
        "label": _("Difference to the ledger"),
        "value": yuan(found.difference_fen),
        "tone": "fail" if found.difference_fen else "",
        "sub": _("Ratings compared: %(count)s") % {"count": f"{found.runs:,}"},
    }


@requires(OWN)
@require_GET
def days(request: ActorRequest) -> JsonResponse:
    """The chart: yuan charged on each day that was asked for, days without a charge as zero."""
    asked = ConsumptionForm(request.GET).asked()
    rows = asked.narrow(consumption_by_day(request.actor, filters=asked.filters))
    found = {row["day"]: row["amount_fen"] for row in rows}
    every = [asked.since + timedelta(days=n) for n in range((asked.until - asked.since).days + 1)]
    points = [[_midnight(day), found.get(day, 0) / FEN_PER_YUAN] for day in every]
    return JsonResponse([{"name": _("Charged"), "unit": "¥", "points": points}], safe=False)


def _midnight(day: date) -> str:
    return midnight(day).isoformat()


@requires(OWN)
@require_GET
def run(request: ActorRequest, workload_id: UUID) -> HttpResponse:
    """All charges of one run, whatever their day."""
    actor = request.actor
    rows: QuerySet[Charge] = charges(actor, filters=ChargeFilter(workload_id=workload_id))
    first = rows.first()
    if first is None:
        raise NotFound
    page = Paginator(rows, CHARGES_PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "session": first.session,
        "workload_id": workload_id,
        "strip": _run_strip(workload_cost(actor, workload_id=workload_id), first),
        "totals": rows.order_by().aggregate(
            amount_fen=Sum("amount_fen"), exact_fen=Sum("exact_fen"), seconds=Sum("seconds")
        ),
        "table": pager(page),
        "charge": _charge(actor, request.GET.get("charge")),
    }
    return render(request, "billing/run.html", context)


def _run_strip(cost: WorkloadCost, charge: Charge) -> list[dict[str, Any]]:
    version = _("version %(number)s, as it was quoted") % {"number": charge.price_version.number}
    price = yuan_rate(charge.rate * charge.replicas)
    return [
        _charged(cost),
        {"label": _("Used, not charged yet"), "value": _exact(cost.unrated_fen)},
        {"label": _("Metered time"), "value": duration(float(cost.seconds))},
        {"label": _("Price"), "value": price, "sub": version},
    ]


def _charged(cost: WorkloadCost) -> dict[str, Any]:
    if cost.is_below_a_fen:
        return {
            "label": _("Charged"),
            "value": _exact(cost.rated_exact),
            "sub": _("less than a fen so far, carried on"),
        }
    return {"label": _("Charged"), "value": yuan(cost.charged_fen), "sub": _("whole fen")}


def _exact(fen: Decimal) -> str:
    return f"¥{fen / FEN_PER_YUAN:,.4f}"


@requires(in_organisation(Permission.BILLING_VIEW_OWN))
@require_GET
def mine(request: ActorRequest) -> HttpResponse:
    """A card with what one's own runs cost this month and the month before."""
    actor = request.actor
    months = {}
    for name, period in (("this_fen", Period.MONTH), ("last_fen", Period.LAST_MONTH)):
        since, until = days_of(period)
        own = ChargeFilter(since=since, until=until, user_id=actor.user_id)
        months[name] = charged(actor, filters=own)
    return render(request, "billing/mine.html", months)
