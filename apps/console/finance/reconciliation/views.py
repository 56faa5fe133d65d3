"""Reconciliation with Alipay: the days, one of them, its bills."""

from datetime import date, timedelta
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.bill_choices import BillItemKind, BillOutcome, BillSource
from apps.billing.days import billing_day
from apps.billing.models import BillDay
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.billing.payments.reconciliation import acts as reconciliation_acts
from apps.billing.payments.reconciliation import comparing as reconciliation
from apps.billing.payments.reconciliation import selectors as reads
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.files import attachment
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.console.finance.reconciliation.forms import BillForm, DatedBillForm
from apps.console.finance.reconciliation.listing import (
    NEEDED,
    BillDayFilter,
    BillDayTable,
    BillItemTable,
    BillTabFilter,
)
from apps.console.kit.days import day_of
from apps.console.kit.requests import StaffRequest
from apps.tenants import settings

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
ACT = on_platform(P.PLATFORM_RECHARGE)
LIST, DAY, UPLOAD = (f"console/reconciliation/{name}.html" for name in ("list", "day", "upload"))


@requires(VIEW)
@require_GET
def overview(request: StaffRequest) -> HttpResponse:
    filtered = BillDayFilter(request.GET, queryset=reads.bill_days(request.actor), request=request)
    context = {
        "filter": filtered,
        "table": paged(request, BillDayTable(filtered.qs)),
        "needed": paged(request, BillItemTable(reads.open_bill_items(request.actor), prefix="n-"), per_page=10),
        "ready": settings.get(AlipaySettings).is_ready,
        "may_set": request.actor.may(P.PLATFORM_SETTINGS_VIEW),
        "may_act": request.actor.may(P.PLATFORM_RECHARGE),
    }
    return render(request, LIST, context)


@requires(VIEW)
@require_GET
def day(request: StaffRequest, bill_day: str) -> HttpResponse:
    return render(request, DAY, _page(request, reads.bill_day(request.actor, day_of(bill_day))))


def _page(request: StaffRequest, row: BillDay) -> dict[str, Any]:
    actor, counts = request.actor, reads.counts(request.actor, row.day)
    chosen = request.GET.copy()
    shown = chosen.setdefault("tab", NEEDED if counts.open else "")
    filtered = BillTabFilter(chosen, queryset=reads.bill_items(actor, day=row.day), request=request)
    ready = settings.get(AlipaySettings).is_ready
    return {
        "row": row,
        "counts": counts,
        "cells": _cells(row),
        "tabs": _tabs(counts, shown),
        "filter": filtered,
        "table": paged(request, BillItemTable(filtered.qs)),
        "bills": reads.bills_of(actor, row.day),
        "under_way": ready and row.next_try_at is not None and row.next_try_at <= db_now(),
        "may_act": actor.may(P.PLATFORM_RECHARGE),
        "ready": ready,
        "creditable": _creditable(actor, row.day) if ready else 0,
    }


def _creditable(actor: Actor, day: date) -> int:
    rows = reads.open_bill_items(actor).filter(day=day, outcome=BillOutcome.THEIRS_ONLY, kind=BillItemKind.PAYMENT)
    return rows.count()


def _cells(row: Any) -> list[dict[str, Any]]:
    differs = row.difference_fen != 0
    return [
        {"label": _("Alipay's bill"), "value": yuan(row.theirs_fen), "sub": _("payments less refunds")},
        {"label": _("Our books"), "value": yuan(row.ours_fen), "sub": _("payments less refunds")},
        {"label": _("Difference"), "value": yuan(row.difference_fen), "tone": "fail" if differs else ""},
        {"label": _("Alipay's fees"), "value": yuan(row.fees_fen)},
        {"label": _("Need attention"), "value": row.open, "tone": "fail" if row.open else ""},
    ]


def _tabs(counts: reads.Counts, shown: str) -> list[dict[str, Any]]:
    named = [(NEEDED, _("Need attention"), counts.open), ("", _("All"), counts.all)]
    named += [(each.value, str(each.label), counts.by_outcome[each.value]) for each in BillOutcome]
    return [{"label": label, "url": f"?tab={tab}", "current": tab == shown, "count": n} for tab, label, n in named]


@requires(VIEW)
@require_GET
def bill(request: StaffRequest, alipay_bill_id: int) -> HttpResponse:
    """The bill as it came, always as a download."""
    found = reads.stored_bill(request.actor, alipay_bill_id)
    content = bytes(found.content)
    kind = "zip" if content.startswith(b"PK") else "csv"
    return attachment(content, f"alipay-{found.day.isoformat()}.{kind}")


@requires(ACT)
@require_POST
def fetch(request: StaffRequest, bill_day: str) -> HttpResponse:
    """Have the bill fetched again; a worker does it within seconds."""
    row = reads.bill_day(request.actor, day_of(bill_day))
    try:
        reconciliation.request_bill(request.actor, row.day)
    except DomainError as error:
        say_refusal(request, error)
    return redirect("console:reconciliation_day", row.day.isoformat())


@requires(ACT)
@require_http_methods(["GET", "POST"])
def upload(request: StaffRequest, bill_day: str) -> HttpResponse:
    """A bill by hand, read as a downloaded one is."""
    chosen = day_of(bill_day)
    form = BillForm(request.POST or None, request.FILES or None)
    return _uploaded(request, form, {"form": form, "day": chosen})


@requires(ACT)
@require_http_methods(["GET", "POST"])
def upload_any(request: StaffRequest) -> HttpResponse:
    """The same for a day that is named with it: days without a bill have no page of their own yet."""
    yesterday = billing_day(db_now()) - timedelta(days=1)
    form = DatedBillForm(request.POST or None, request.FILES or None, initial={"day": yesterday})
    return _uploaded(request, form, {"form": form})


def _uploaded(request: StaffRequest, form: BillForm, context: dict[str, Any]) -> HttpResponse:
    if request.method != "POST":
        return render(request, UPLOAD, context)
    if form.is_valid():
        day, content = context.get("day") or form.cleaned_data["day"], form.cleaned_data["bill"]
        try:
            taken = reconciliation.import_bill(request.actor, day=day, content=content, source=BillSource.UPLOADED)
        except DomainError as error:
            show_error(form, error)
        else:
            words = (
                _("The bill was compared.") if taken.new else _("This bill was here already; it was compared again.")
            )
            return done(request, words, "console:reconciliation_day", day.isoformat())
    return refused(request, UPLOAD, context)


@requires(ACT)
@require_http_methods(["GET", "POST"])
def credit(request: StaffRequest, bill_day: str) -> HttpResponse:
    """Credit all payments of the day that Alipay alone has and confirms: a dialog first."""
    row = reads.bill_day(request.actor, day_of(bill_day))
    if request.method != "POST":
        number = _creditable(request.actor, row.day)
        title = ngettext("Credit %(number)s payment?", "Credit %(number)s payments?", number) % {"number": number}
        text = _("Alipay is asked about each of them; only what it confirms as paid is credited, and only once.")
        action = reverse("console:reconciliation_credit", args=[row.day.isoformat()])
        context = {"title": title, "text": text, "button": _("Ask and credit"), "action": action, "plain": True}
        return render(request, "components/confirm_body.html", context)
    try:
        came = reconciliation_acts.credit_day(request.actor, row.day)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:reconciliation_day", row.day.isoformat())
    words = _("Credited: %(credited)s. Still open: %(left)s.") % {"credited": came.credited, "left": came.left}
    return done(request, words, "console:reconciliation_day", row.day.isoformat())
