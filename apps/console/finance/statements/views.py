"""Sending a reviewed statement back."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.choices import StatementState
from apps.billing.models import Charge, Statement
from apps.billing.months import Month
from apps.billing.statements import closing as statements_closing
from apps.billing.statements import selectors as reads
from apps.billing.statements import services as statements
from apps.billing.statements.digest import is_intact
from apps.billing.statements.services import REASON_MAX
from apps.billing.statements.tables import ChargeTable, paged_by_line
from apps.common.access import on_platform, requires
from apps.common.clock import db_now
from apps.common.errors import DomainError, NotFound
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import Question, ask, done, paged, say_refusal
from apps.common.permissions import Permission as P
from apps.console.finance.statements.listing import StatementFilter, StatementTable
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
MANAGE = on_platform(P.PLATFORM_STATEMENTS_MANAGE)
DETAIL = "console/statements/detail.html"
# What one press does at most; a second one goes on.
BULK_MAX = 200


class ReopenForm(forms.Form):
    reason = forms.CharField(label=_("Why"), max_length=REASON_MAX, widget=forms.Textarea(attrs={"rows": 3}))


BULK: dict[str, Callable[..., Statement]] = {"review": statements.review, "issue": statements.issue}


@requires(VIEW)
@require_GET
def statement_list(request: StaffRequest) -> HttpResponse:
    actor, month = request.actor, _month(request.GET.get("period"))
    filtered = StatementFilter(request.GET, queryset=reads.statements(actor), request=request)
    manages = actor.may(P.PLATFORM_STATEMENTS_MANAGE)
    tally = reads.tally(actor, month)
    context = {
        "table": paged(request, StatementTable(filtered.qs, manages=manages)),
        "filter": filtered,
        "month": month,
        "tally": tally,
        "strip": _strip(month, tally),
        "manages": manages,
        "over": db_now() >= month.end,
    }
    return render(request, "console/statements/list.html", context)


def _month(text: str | None) -> Month:
    """The month that the page is about: the one before this, unless the URL names another."""
    try:
        return Month.parse((text or "")[:7])
    except ValueError:
        return Month.at(db_now()).former()


def _strip(month: Month, tally: reads.Tally) -> list[dict[str, Any]]:
    listed = f"{reverse('console:statements')}?period={month.period}&state="
    complete = gettext("complete from %(at)s") % {"at": f"{timezone.localtime(month.complete_at):%m-%d %H:%M}"}
    return [
        {"label": gettext("Drafts"), "value": tally.draft, "sub": complete, "url": f"{listed}draft"},
        {
            "label": gettext("Reviewed"),
            "value": tally.reviewed,
            "sub": gettext("wait to be issued"),
            "url": f"{listed}reviewed",
        },
        {
            "label": pgettext("statement", "Issued"),
            "value": tally.issued,
            "sub": gettext("frozen"),
            "url": f"{listed}issued",
        },
        {"label": pgettext("amount", "Consumption"), "value": yuan(tally.total_fen), "sub": month.period},
    ]


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, statement_id: UUID) -> HttpResponse:
    return render(request, DETAIL, _page(request, statement_id))


def _page(request: StaffRequest, statement_id: UUID) -> dict[str, Any]:
    found = reads.statement_document(request.actor, statement_id)
    return {
        "paper": found,
        "line_route": "console:statement_line",
        "intact": is_intact(found.statement),
        "manages": request.actor.may(P.PLATFORM_STATEMENTS_MANAGE),
        "is_draft": found.statement.state == StatementState.DRAFT,
        "is_reviewed": found.statement.state == StatementState.REVIEWED,
    }


@requires(VIEW)
@require_GET
def line(request: StaffRequest, statement_id: UUID, position: int) -> HttpResponse:
    """The charges that one line is the sum of; each opens in the consumption page, with formula and ledger entry."""
    actor = request.actor
    statement, row = reads.statement(actor, statement_id), reads.charged_line(actor, statement_id, position)
    rows = reads.charges_of_line(actor, statement, row)
    table = paged_by_line(request, ChargeTable(rows, opens=_explained), row)
    context = {"statement": statement, "line": row, "table": table, "bill_route": "console:statement"}
    return render(request, "console/statements/line.html", context)


def _explained(charge: Charge) -> str:
    hour = timezone.localtime(charge.start).replace(minute=0, second=0, microsecond=0)
    query = {
        "since": charge.day,
        "until": charge.day,
        "organisation": charge.organisation_id,
        "workload": charge.session.workload_id,
        "hour": hour.isoformat(),
        "charge": charge.pk,
    }
    return f"{reverse('console:consumption')}?{urlencode(query)}"


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def act(request: StaffRequest, statement_id: UUID, name: str) -> HttpResponse:
    """`review`, `issue` or `build`: a dialog first, then the deed."""
    found = reads.statement(request.actor, statement_id)
    if name not in (*BULK, "build"):
        raise Http404
    if request.method != "POST":
        action = reverse("console:statement_act", args=[found.pk, name])
        return render(request, "components/confirm_body.html", {**_question(found, name), "action": action})
    try:
        if name == "build":
            statements.build(request.actor, organisation_id=found.organisation_id, month=Month(found.period))
        else:
            BULK[name](request.actor, statement_id=found.pk)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:statement", found.pk)
    said = {
        "build": gettext("The draft was rebuilt."),
        "review": gettext("Reviewed. It can be issued now."),
        "issue": gettext("Issued: it is frozen, and the organisation is told."),
    }
    return done(request, said[name], "console:statement", found.pk)


def _question(found: Statement, name: str) -> dict[str, Any]:
    names = {"name": found.organisation.name, "period": found.period, "amount": yuan(found.total_fen)}
    if name == "issue":
        return {
            "title": gettext("Issue the statement of %(name)s for %(period)s?") % names,
            "text": gettext("%(amount)s of consumption. The organisation is told, and nothing on it changes any more.")
            % names,
            "undo": gettext("No. Corrections appear on the next statement."),
            "button": gettext("Issue it"),
            "plain": True,
        }
    if name == "review":
        return {
            "title": gettext("Approve the figures of %(name)s for %(period)s?") % names,
            "text": gettext("%(amount)s of consumption. It can go back to draft until it is issued.") % names,
            "button": gettext("Mark as reviewed"),
            "plain": True,
        }
    title = gettext("Rebuild the draft of %(name)s for %(period)s?") % names
    text = gettext("Its lines are read from the ledger again.")
    return {"title": title, "text": text, "button": gettext("Rebuild it"), "plain": True}


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def reopen(request: StaffRequest, statement_id: UUID) -> HttpResponse:
    """Back from reviewed to draft, with the reason."""
    found = reads.statement(request.actor, statement_id)
    form = ReopenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            statements.reopen(request.actor, statement_id=found.pk, reason=form.cleaned_data["reason"])
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, gettext("The statement is a draft again."), "console:statement", found.pk)
    question = Question(
        title=gettext("Back to draft?"),
        text=gettext("Its figures can then be rebuilt. The reason stays on the statement and in the log."),
        button=gettext("Back to draft"),
        action=reverse("console:statement_reopen", args=[found.pk]),
        back=gettext("Statements"),
        back_url=reverse("console:statements"),
    )
    return ask(request, form, question)


@requires(MANAGE)
@require_POST
def bulk(request: StaffRequest) -> HttpResponse:
    """`do` (review or issue) with the ticked ones (`id`), or with all of a month that are ready for it (`period`)."""
    wanted = BULK.get(request.POST.get("do", ""))
    if wanted is None:
        raise NotFound
    made = statements_closing.apply_to_all(_chosen(request), lambda pk: wanted(request.actor, statement_id=pk))
    for _pk, error in made.refused[:3]:
        say_refusal(request, error)
    words = ngettext("%(count)s statement was taken on.", "%(count)s statements were taken on.", made.count)
    (messages.success if made.count else messages.info)(request, words % {"count": made.count})
    return _back(request)


def _chosen(request: StaffRequest) -> list[UUID]:
    try:
        if ids := request.POST.getlist("id"):
            return [UUID(each) for each in ids][:BULK_MAX]
        month = Month.parse(request.POST.get("period", ""))
    except ValueError as error:
        raise NotFound from error
    state = StatementState.DRAFT if request.POST["do"] == "review" else StatementState.REVIEWED
    ready = reads.statements(request.actor).filter(period=month.period, state=state, complete=True)
    return list(ready.values_list("pk", flat=True)[:BULK_MAX])


@requires(MANAGE)
@require_POST
def build_month(request: StaffRequest) -> HttpResponse:
    """Build the drafts of a month, even the running one, for some seconds; the next click does the rest."""
    try:
        month = Month.parse(request.POST.get("period", ""))
    except ValueError as error:
        raise NotFound from error
    built, left = statements_closing.build_now(request.actor, month=month)
    words = ngettext("%(count)s draft was built.", "%(count)s drafts were built.", built) % {"count": built}
    if left:
        messages.warning(request, f"{words} {gettext('There are more: press again.')}")
    else:
        messages.success(request, words)
    return _back(request)


def _back(request: StaffRequest) -> HttpResponse:
    period = request.POST.get("period", "")
    return redirect(
        f"{reverse('console:statements')}?{urlencode({'period': period})}" if period else "console:statements"
    )
