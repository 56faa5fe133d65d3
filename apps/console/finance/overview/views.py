"""The first page of Finance: money in, consumption, what is deferred and owed, and what waits for somebody."""

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from apps.billing.changes.selectors import waiting_changes
from apps.billing.months import Month
from apps.billing.statements import revenue as reads
from apps.billing.statements import selectors as statements
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.money import FEN_PER_YUAN, yuan, yuan_rate
from apps.common.permissions import Permission as P
from apps.console.finance import selectors as overview
from apps.console.finance.recharges import selectors as recharges
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
# Months in the chart, organisations in the list.
MONTHS, SHOWN = 6, 8


@requires(VIEW)
@require_GET
def page(request: StaffRequest) -> HttpResponse:
    """Pending items are rendered at once; sums over the whole ledger are loaded after the page."""
    actor = request.actor
    context = {"todo": _todo(actor), "short": overview.short_of_money(actor), "month": Month.at(db_now())}
    return render(request, "console/finance/page.html", context)


@requires(VIEW)
@require_GET
def figures(request: StaffRequest) -> HttpResponse:
    actor, month = request.actor, Month.at(db_now())
    former, book = reads.monthly_books(actor, last=month, count=2)
    top = list(reads.by_organisation(actor, month=month)[:SHOWN])
    greatest = max((row["fen"] for row in top), default=0)
    for row in top:
        row["share"] = reads.percent(max(row["fen"], 0), greatest)
    context = {"strip": _strip(actor, book, former), "top": top, "month": month}
    return render(request, "console/finance/figures.html", context)


@requires(VIEW)
@require_GET
def months(request: StaffRequest) -> JsonResponse:
    """Bars of six months: [{name, unit, points: [[Unix seconds of the month's start, yuan], …]}]."""
    books = reads.monthly_books(request.actor, last=Month.at(db_now()), count=MONTHS)
    series = [
        (_("Cash in"), [book.received_fen for book in books]),
        (_("Recognised"), [book.recognised_fen for book in books]),
    ]
    starts = [book.month.start.timestamp() for book in books]
    return JsonResponse(
        [
            {
                "name": name,
                "unit": "¥",
                "points": [[at, fen / FEN_PER_YUAN] for at, fen in zip(starts, fens, strict=True)],
            }
            for name, fens in series
        ],
        safe=False,
    )


def _strip(actor: Actor, book: reads.Book, former: reads.Book) -> list[dict[str, Any]]:
    rate, _payers = overview.burn(actor)
    simulated = overview.simulated_fen(actor, book.month)
    owed = reads.owed(actor)
    before = _("%(amount)s last month")
    return [
        {
            "label": _("Cash in this month"),
            "value": yuan(book.received_fen),
            "sub": before % {"amount": yuan(former.received_fen)},
            "url": f"{reverse('console:recharges')}?since={book.month.first}",
        },
        {
            "label": _("Consumption this month"),
            "value": yuan(book.consumption_fen),
            "sub": _("of which %(amount)s on simulated hardware") % {"amount": yuan(simulated)}
            if simulated
            else _("%(amount)s last month, %(rate)s now")
            % {"amount": yuan(former.consumption_fen), "rate": yuan_rate(rate)},
            "url": reverse("console:consumption"),
        },
        {
            "label": _("Deferred"),
            "value": yuan(book.deferred_fen),
            "sub": _("prepaid, not used up"),
            "url": reverse("console:revenue"),
        },
        {
            "label": _("Arrears"),
            "value": yuan(owed.fen),
            "sub": ngettext("%(count)s wallet below zero", "%(count)s wallets below zero", owed.count)
            % {"count": owed.count},
            "tone": "warn" if owed.count else "",
        },
    ]


def _todo(actor: Actor) -> list[dict[str, Any]]:
    """Statements and recharges that wait for a decision."""
    month = Month.at(db_now()).former()
    tally = statements.tally(actor, month)
    ready = tally.draft if db_now() >= month.complete_at else 0
    listed = f"{reverse('console:statements')}?period={month.period}&state="
    waiting = recharges.waiting(actor).count() + waiting_changes(actor).count()
    named = {"period": month.period}
    items = [
        (ready, "receipt", _("Drafts of %(period)s to review") % named, f"{listed}draft"),
        (tally.reviewed, "lock", _("Reviewed statements of %(period)s to issue") % named, f"{listed}reviewed"),
        (waiting, "cash", _("Waits for a second person"), reverse("console:change_requests")),
    ]
    return [
        {"icon": icon, "tone": "wait", "text": f"{text}: {count}", "url": url, "action": _("Open")}
        for count, icon, text, url in items
        if count
    ]
