"""Revenue: what was recognised, what is deferred, what came in; by month, package and organisation."""

from itertools import dropwhile
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.billing.months import Month
from apps.billing.statements import revenue as reads
from apps.billing.statements.revenue import Book
from apps.common.access import on_platform, requires
from apps.common.clock import db_now
from apps.common.money import yuan
from apps.common.pages import paged
from apps.common.permissions import Permission as P
from apps.console.finance.revenue.listing import OrganisationRevenueTable
from apps.console.finance.selectors import simulated_packages
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
# Months in the table.
SHOWN = 12


def month_of(request: StaffRequest) -> Month:
    """The month that the URL names; the running one otherwise, and for those to come."""
    running = Month.at(db_now())
    try:
        return min(Month.parse(request.GET.get("period", "")[:7]), running)
    except ValueError:
        return running


@requires(VIEW)
@require_GET
def page(request: StaffRequest) -> HttpResponse:
    month = month_of(request)
    books = reads.monthly_books(request.actor, last=month, count=SHOWN)
    context = {
        "month": month,
        "strip": _strip(books[-1]),
        "books": _since_the_first(books)[::-1],
        "former": month.former(),
        "later": month.next() if month < Month.at(db_now()) else None,
    }
    return render(request, "console/revenue/page.html", context)


def _since_the_first(books: list[Book]) -> list[Book]:
    """Without the months before anything was earned or received; the last one stays."""
    return [*dropwhile(lambda book: book.is_empty, books[:-1]), books[-1]]


def _strip(book: Book) -> list[dict[str, Any]]:
    names = {"used": yuan(book.consumption_fen), "prepaid": yuan(book.prepaid_fen), "adjusted": yuan(book.adjusted_fen)}
    return [
        {
            "label": _("Recognised"),
            "value": yuan(book.recognised_fen),
            "sub": (
                _("%(used)s used, %(adjusted)s adjusted, %(prepaid)s prepaid")
                if book.adjusted_fen
                else _("%(used)s used, %(prepaid)s prepaid")
            )
            % names,
        },
        {
            "label": _("Of which paid by vouchers"),
            "value": yuan(book.voucher_fen),
            "sub": _("earned, never received"),
        },
        {"label": _("Deferred"), "value": yuan(book.deferred_fen), "sub": _("prepaid and not used up, at the end")},
        {
            "label": _("Cash in"),
            "value": yuan(book.received_fen),
            "sub": _("recharges less refunds"),
            "url": f"{reverse('console:recharges')}?since={book.month.first}&until={book.month.last}",
        },
    ]


@requires(VIEW)
@require_GET
def parts(request: StaffRequest) -> HttpResponse:
    """By package and by organisation; loaded after the page, because it reads all of the month's charges."""
    actor, month = request.actor, month_of(request)
    packages = reads.by_package(actor, month=month)
    total = sum(each.fen for each in packages)
    key = "name_zh" if (get_language() or "").startswith("zh") else "name_en"
    unreal = simulated_packages()
    rows = [
        {
            "name": getattr(each, key),
            "of": each,
            "share": reads.percent(each.fen, total),
            "simulated": each.package_id in unreal,
        }
        for each in packages
    ]
    simulated = sum(row["of"].fen for row in rows if row["simulated"])
    table = paged(request, OrganisationRevenueTable(reads.by_organisation(actor, month=month), month=month))
    context = {"packages": rows, "total_fen": total, "simulated_fen": simulated, "table": table, "month": month}
    return render(request, "console/revenue/parts.html", context)


@requires(VIEW)
@require_GET
def check(request: StaffRequest) -> HttpResponse:
    """Check that accounts, movements and charges agree."""
    found = reads.revenue_checks(request.actor, month=month_of(request))
    return render(request, "console/revenue/check.html", {"wrong": [each for each in found if each.fen]})
