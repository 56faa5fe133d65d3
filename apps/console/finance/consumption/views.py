"""Consumption across organisations, down to the slice and its formula."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import get_language, ngettext, pgettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.billing.formula import discount_factor, per_cent
from apps.billing.models import Charge
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.formatting import moment
from apps.common.money import yuan, yuan_rate
from apps.common.permissions import Permission as P
from apps.common.templatetags.pl_filters import exact_yuan
from apps.console.finance import selectors as overview
from apps.console.finance.consumption import selectors as reads
from apps.console.finance.consumption.drilldown import Branch, lines
from apps.console.finance.consumption.forms import PeriodForm
from apps.console.finance.consumption.selectors import Explanation, Scope
from apps.console.kit.days import start_of
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
LONGEST = timedelta(days=366)


@requires(VIEW)
@require_GET
def page(request: StaffRequest) -> HttpResponse:
    actor = request.actor
    branch = _branch(request.GET)
    scope = branch.scope
    totals = reads.totals(actor, scope)
    explained = reads.explain(actor, branch.charge) if branch.charge is not None else None
    context = {
        "form": _period_form(scope),
        "scope": scope,
        "totals": totals,
        "strip": _strip(actor, scope, totals),
        "packages": _packages(actor, scope, totals),
        "lines": list(lines(actor, branch)),
        "periods": _periods(scope),
        "scope_query": Branch(scope).url(),
        "explained": explained,
        "why": _why(explained) if explained else None,
        "close_url": branch.url(charge=None),
    }
    return render(request, "console/consumption/page.html", context)


@requires(VIEW)
@require_GET
def days(request: StaffRequest) -> JsonResponse:
    """Bars of days: [{name, unit, points: [[Unix seconds of the day's start, yuan], …]}]. Drawn, never added up."""
    scope = _scope(request.GET)
    charged = reads.days(request.actor, scope)
    span = (scope.until - scope.since).days + 1
    points = [_point(scope.since + timedelta(days=k), charged) for k in range(span)]
    return JsonResponse([{"name": pgettext("amount", "Consumption"), "unit": "¥", "points": points}], safe=False)


def _point(day: date, charged: dict[date, Decimal]) -> list[float]:
    return [start_of(day).timestamp(), float(charged.get(day, Decimal(0)) / 100)]


def _period_form(scope: Scope) -> PeriodForm:
    """Show the effective days even if the URL has none; unchanged while they are the default."""
    usual = _scope(QueryDict())
    data = {"q": scope.search, "since": scope.since, "until": scope.until}
    return PeriodForm(data, initial={"since": usual.since, "until": usual.until})


def _scope(query: QueryDict) -> Scope:
    """This month unless the URL names days; a span turned round or beyond a year is cut."""
    today = timezone.localdate()
    until = _day(query.get("until")) or today
    since = _day(query.get("since")) or until.replace(day=1)
    return Scope(max(min(since, until), until - LONGEST), until, query.get("q", "").strip()[:80])


def _day(text: str | None) -> date | None:
    try:
        return parse_date(text or "")
    except ValueError:
        return None


def _branch(query: QueryDict) -> Branch:
    charge = query.get("charge", "")
    wanted = {name: query.get(name, "") for name in ("orgs", "works", "hours")}
    return Branch(
        scope=_scope(query),
        organisation=_uuid(query.get("organisation")),
        workload=_uuid(query.get("workload")),
        hour=_hour(query.get("hour")),
        charge=int(charge) if charge.isascii() and charge.isdigit() and len(charge) < 18 else None,
        limits={name: min(int(text), 2000) for name, text in wanted.items() if text.isascii() and text.isdigit()},
    )


def _uuid(text: str | None) -> UUID | None:
    try:
        return UUID(text or "")
    except ValueError:
        return None


def _hour(text: str | None) -> datetime | None:
    try:
        found = parse_datetime(text or "")
    except ValueError:
        return None
    return found if found is not None and timezone.is_aware(found) else None


def _periods(scope: Scope) -> list[dict[str, Any]]:
    today = timezone.localdate()
    first = today.replace(day=1)
    before = first - timedelta(days=1)
    spans = [
        (_("This month"), first, today),
        (_("Last month"), before.replace(day=1), before),
        (_("7 days"), today - timedelta(days=6), today),
    ]
    return [
        {
            "label": label,
            "url": Branch(Scope(since, until, scope.search)).url(),
            "current": (since, until) == (scope.since, scope.until),
        }
        for label, since, until in spans
    ]


def _strip(actor: Actor, scope: Scope, totals: reads.Totals) -> list[dict[str, Any]]:
    rate, _payers = overview.burn(actor)
    received = reads.received(actor, scope)
    waiting = sum((item.exact_fen for item in reads.pending(actor)), start=Decimal(0))
    return [
        {
            "label": pgettext("amount", "Consumption"),
            "value": yuan(totals.amount_fen),
            "sub": _("%(exact)s before rounding") % {"exact": exact_yuan(totals.exact_fen)},
        },
        {
            "label": _("Paid in cash"),
            "value": yuan(totals.amount_fen - totals.voucher_fen),
            "sub": _("%(amount)s by vouchers") % {"amount": yuan(totals.voucher_fen)},
        },
        {
            "label": _("Workloads"),
            "value": totals.workloads,
            "sub": ngettext("in %(count)s organisation", "in %(count)s organisations", totals.organisations)
            % {"count": totals.organisations},
        },
        {
            "label": _("Metered now"),
            "value": yuan_rate(rate),
            "sub": _("%(amount)s not charged yet") % {"amount": exact_yuan(waiting)},
        },
        {
            "label": _("Recharged"),
            "value": yuan(received.amount_fen),
            "sub": ngettext("%(count)s recharge", "%(count)s recharges", received.count) % {"count": received.count},
            "url": f"{reverse('console:recharges')}?since={scope.since}&until={scope.until}",
        },
    ]


@requires(VIEW)
@require_GET
def agreement(request: StaffRequest) -> HttpResponse:
    """Check the shown charges against the ledger; loaded after the page, because it reads every charge."""
    found = reads.agreement(request.actor, _scope(request.GET))
    return render(request, "console/consumption/agreement.html", {"found": found})


def _packages(actor: Actor, scope: Scope, totals: reads.Totals) -> list[dict[str, Any]]:
    """The five greatest packages and the rest, each with its share of the whole in per cent."""
    rows = reads.by_package(actor, scope)
    key = "name_zh" if (get_language() or "").startswith("zh") else "name_en"
    shown = [{"label": row[key], "amount_fen": row["amount_fen"], "exact_fen": row["exact_fen"]} for row in rows[:5]]
    if rows[5:]:
        rest = {name: sum(row[name] for row in rows[5:]) for name in ("amount_fen", "exact_fen")}
        shown.append({"label": _("Others"), **rest})
    for row in shown:
        row["share"] = float(100 * row["exact_fen"] / totals.exact_fen) if totals.exact_fen else None
    return shown


def _why(explained: Explanation) -> list[dict[str, Any]]:
    """Where each part of a charge comes from."""
    charge, session = explained.charge, explained.charge.session
    transfer = explained.run.transfer
    return [
        _price_row(explained),
        *_discount_rows(charge),
        {
            "label": pgettext("evidence", "Begins"),
            "value": _("First proof of running")
            if charge.slice_start == session.opened_at
            else _("Where the last one ended"),
            "sub": f"{timezone.localtime(charge.start):%m-%d %H:%M:%S.%f}",
        },
        {
            "label": pgettext("evidence", "Ends"),
            "value": _end_words(explained),
            "sub": f"{timezone.localtime(charge.end):%m-%d %H:%M:%S.%f}",
        },
        {
            "label": _("Rounded to"),
            "value": yuan(charge.amount_fen),
            "sub": _("its part of run %(number)s, rounded once over all of it") % {"number": explained.run.number},
        },
        *_voucher_rows(charge),
        {
            "label": _("Ledger entry"),
            "value": f"T-{transfer.pk}" if transfer else _("none of the wallet"),
            "sub": _("wallet of %(name)s → revenue, %(amount)s")
            % {"name": explained.organisation.name, "amount": yuan(transfer.amount_fen)}
            if transfer
            else "",
        },
        {"label": pgettext("of a posting", "Key"), "value": charge.key},
    ]


def _discount_rows(charge: Charge) -> list[dict[str, Any]]:
    if not charge.discount_off:
        return []
    words = {"off": per_cent(charge.discount_off), "kept": discount_factor(charge)}
    return [
        {
            "label": _("Discount"),
            "icon": "lock",
            "value": _("%(off)s off, so × %(kept)s") % words,
            "sub": _("as it was when the run started"),
        }
    ]


def _voucher_rows(charge: Charge) -> list[dict[str, Any]]:
    """Each voucher's exact part of the charge."""
    covers = charge.covers.order_by("pk")
    return [
        {
            "label": _("Paid by a voucher"),
            "value": exact_yuan(cover.exact_fen),
            "sub": _("voucher %(number)s") % {"number": cover.voucher_id},
        }
        for cover in covers
    ]


def _price_row(explained: Explanation) -> dict[str, Any]:
    version, former = explained.charge.price_version, explained.former
    words = {"at": moment(version.effective_from), "rate": yuan_rate(former.rate_fen_per_hour) if former else ""}
    return {
        "label": _("Price version"),
        "icon": "lock",
        "value": f"{version.package.name(get_language() or '')} v{version.number}",
        "sub": (_("from %(at)s; before it %(rate)s") if former else _("from %(at)s")) % words,
    }


def _end_words(explained: Explanation) -> str:
    end, session = explained.charge.end, explained.charge.session
    if session.closed_at == end:
        return _("End of the run")
    if (end.minute, end.second, end.microsecond) == (0, 0, 0):
        return _("Cut at the full hour")
    return _("Last proof when it was charged")
