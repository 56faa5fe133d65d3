"""Arrears in the console: who is short of money, the terms of one organisation, and its data once it is released."""

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.billing import services as billing
from apps.billing.choices import ArrearsStatus
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import PER_PAGE, REFUSED, done, say_refusal
from apps.common.permissions import Permission as P
from apps.common.tables import pager
from apps.console.finance.arrears import selectors as reads
from apps.console.finance.arrears import services as releasing
from apps.console.finance.arrears.forms import terms_form
from apps.console.kit.requests import StaffRequest
from apps.console.people.organisations import selectors as organisations
from apps.console.people.organisations.views import frame
from apps.tenants.models import Organisation

VIEW = on_platform(P.PLATFORM_FINANCE_VIEW)
MANAGE = on_platform(P.PLATFORM_STORAGE_MANAGE)
LIST, PAGE = "console/arrears/list.html", "console/arrears/terms.html"
# All but the one that is in order.
STATES = [choice for choice in ArrearsStatus.choices if choice[0] != ArrearsStatus.NORMAL]


@requires(VIEW)
@require_GET
def arrears_list(request: StaffRequest) -> HttpResponse:
    """`?status=` narrows to one state, `?q=` by the organisation's name."""
    status, text = request.GET.get("status", ""), request.GET.get("q", "").strip()[:80]
    everything = reads.in_arrears(request.actor)
    rows = everything.filter(status=status) if status in ArrearsStatus.values else everything
    if text:
        rows = rows.filter(organisation__name__icontains=text)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "rows": reads.with_ends(page.object_list),
        "table": pager(page),
        "any": bool(page.object_list) or everything.exists(),
        "status": status,
        "text": text,
        "states": STATES,
    }
    return render(request, LIST, context)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def terms(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    """One organisation's state, and its own grace and retention."""
    organisation = organisations.get(request.actor, organisation_id)
    standing = funds.standing(request.actor, organisation_id)
    form = terms_form(standing, request.POST or None)
    if request.method == "POST":
        request.actor.require(P.PLATFORM_RECHARGE)
        if form.is_valid():
            try:
                billing.set_arrears_terms(request.actor, organisation_id=organisation_id, **form.cleaned_data)
            except DomainError as error:
                show_error(form, error)
            else:
                words = _("The terms of %(name)s were set.") % {"name": organisation.name}
                return done(request, words, "console:organisation_arrears", organisation_id)
    status = REFUSED if request.method == "POST" else 200
    return render(request, PAGE, _context(request.actor, organisation, standing, form), status=status)


def _context(actor: Actor, organisation: Organisation, standing: funds.Standing, form: Any) -> dict[str, Any]:
    return {
        **frame(actor, organisation, "arrears"),
        "standing": standing,
        "form": form,
        "may_set": actor.may(P.PLATFORM_RECHARGE),
        "may_release": standing.status is ArrearsStatus.RELEASED
        and actor.may(P.PLATFORM_STORAGE_MANAGE)
        and actor.may(P.PLATFORM_WORKLOADS_MANAGE),
    }


@requires(MANAGE)
@require_POST
def release(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    """Move its stored data to the recycle bin; `Conflict` unless its time has passed."""
    organisation = organisations.get(request.actor, organisation_id)
    try:
        count = releasing.release_data(request.actor, organisation_id=organisation_id)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:organisation", organisation_id)
    words = ngettext(
        "%(count)s thing of %(name)s is in the recycle bin.",
        "%(count)s things of %(name)s are in the recycle bin.",
        count,
    ) % {"count": count, "name": organisation.name}
    return done(request, words, "console:organisation", organisation_id)
