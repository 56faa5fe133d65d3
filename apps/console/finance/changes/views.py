"""Changes that wait for a second person: the list, one of them with what it does, and what is decided about it."""

from typing import Any
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from apps.billing.changes import services
from apps.billing.changes.selectors import change_request, change_requests
from apps.billing.choices import RequestState
from apps.billing.models import ChangeRequest
from apps.billing.payments.alone import Why
from apps.billing.payments.deciders import REASON_MAX
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import Question, ask, done, paged, say_refusal
from apps.common.permissions import Permission as P
from apps.console.finance.changes.effects import effect_of
from apps.console.finance.changes.listing import ChangeFilter, ChangeTable, with_words
from apps.console.finance.recharges import selectors as recharges
from apps.console.finance.recharges.listing import WaitingTable
from apps.console.kit.requests import StaffRequest
from apps.console.kit.second_person import nobody_else, why_words

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
LIST, PAGE = "console/changes/list.html", "console/changes/request.html"


class DenyForm(forms.Form):
    answer = forms.CharField(label=gettext_lazy("Why"), max_length=REASON_MAX, widget=forms.Textarea(attrs={"rows": 3}))


@requires(VIEW)
@require_GET
def change_list(request: StaffRequest) -> HttpResponse:
    filtered = ChangeFilter(request.GET, queryset=change_requests(request.actor), request=request)
    table = paged(request, ChangeTable(filtered.qs))
    for row in table.page.object_list:
        with_words(row.record)
    waiting = paged(request, WaitingTable(recharges.waiting(request.actor), prefix="w-"))
    return render(request, LIST, {"table": table, "filter": filtered, "waiting": waiting})


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, change_request_id: UUID) -> HttpResponse:
    found = with_words(change_request(request.actor, change_request_id))
    return render(request, PAGE, _page(request, found))


def _page(request: StaffRequest, found: ChangeRequest) -> dict[str, Any]:
    actor, proposal = request.actor, services.proposal_of(found)
    waits = found.state == RequestState.PENDING
    mine = found.requested_by_id == actor.user_id
    may = actor.may(proposal.PERMISSION)
    return {
        "found": found,
        "why": why_words(Why(found.why)),
        "effect": effect_of(actor, proposal) if waits else None,
        "may_decide": waits and may and not mine,
        "may_withdraw": waits and mine,
        "nobody_else": waits and mine and nobody_else(actor, proposal.PERMISSION),
        "may_see_staff": actor.may(P.PLATFORM_SECURITY_VIEW),
    }


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def act(request: StaffRequest, change_request_id: UUID, name: str) -> HttpResponse:
    """`approve` or `withdraw`: a dialog first, then the deed."""
    found = with_words(change_request(request.actor, change_request_id))
    if name not in ("approve", "withdraw"):
        raise Http404
    if request.method != "POST":
        return render(request, "components/confirm_body.html", _question(found, name))
    deed = services.approve if name == "approve" else services.withdraw
    try:
        deed(request.actor, request_id=found.pk)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:change_request", found.pk)
    said = _("Approved: it is in force.") if name == "approve" else _("The request was taken back.")
    return done(request, said, "console:change_request", found.pk)


def _question(found: ChangeRequest, name: str) -> dict[str, Any]:
    action = reverse("console:change_request_act", args=[found.pk, name])
    names = {"what": found.title, "steps": "; ".join(found.steps)}  # type: ignore[attr-defined]
    if name == "approve":
        title, text = _("Approve: %(what)s?") % names, _("%(steps)s. It is in force as soon as you approve.") % names
        return {"title": title, "text": text, "button": _("Approve"), "plain": True, "action": action}
    text = _("Nothing changes; it can be asked for again.")
    title = _("Take your request back: %(what)s?") % names
    return {"title": title, "text": text, "button": _("Take it back"), "action": action}


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def deny(request: StaffRequest, change_request_id: UUID) -> HttpResponse:
    found = with_words(change_request(request.actor, change_request_id))
    form = DenyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            services.deny(request.actor, request_id=found.pk, answer=form.cleaned_data["answer"])
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The request was denied."), "console:change_request", found.pk)
    title = _("Deny: %(what)s?") % {"what": found.title}  # type: ignore[attr-defined]
    action = reverse("console:change_request_deny", args=[found.pk])
    text, back = _("Whoever asked is told your reason."), reverse("console:change_requests")
    return ask(request, form, Question(title, text, _("Deny"), action, _("Approvals"), back))
