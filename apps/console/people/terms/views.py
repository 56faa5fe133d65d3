"""What the platform grants one organisation: its packages, its limits, its weight, its credit."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.billing.changes.proposals import CreditLimit
from apps.billing.changes.services import Outcome, submit
from apps.billing.choices import AccountKind
from apps.billing.models import Account
from apps.billing.requests.selectors import restriction
from apps.billing.requests.services import restrict_packages
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.money import FEN_PER_YUAN, yuan
from apps.common.pages import done, refused
from apps.common.permissions import Permission as P
from apps.console.kit.quotas import LimitsForm, set_limits
from apps.console.kit.requests import StaffRequest
from apps.console.people.guarantees.forms import GuaranteesForm
from apps.console.people.guarantees.selectors import guarantee_lines
from apps.console.people.organisations import selectors as reads
from apps.console.people.organisations.views import frame
from apps.console.people.terms.forms import ALL, LISTED, PackagesForm, TermsForm, capacity_form
from apps.console.people.terms.run_times import RunTimesForm
from apps.tenants.models import Organisation
from apps.tenants.services.guarantees import set_guarantees
from apps.tenants.services.organisations import set_weight
from apps.workloads.time_limits import limit_lines

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
QUOTAS = "console/organisations/quotas.html"
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)
PACKAGES, TERMS = "console/organisations/packages.html", "console/organisations/terms.html"


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def quotas(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    actor = request.actor
    organisation = reads.get(actor, organisation_id)
    form = LimitsForm(request.POST or None, lines=reads.limits(actor, organisation_id))
    context = {**frame(actor, organisation, "quotas"), "form": form, "rows": form.rows()}
    context["run_times"] = RunTimesForm(lines=limit_lines(organisation_id))
    context["registry"] = capacity_form(organisation_id)
    if request.method != "POST":
        return render(request, QUOTAS, context)
    actor.require(P.PLATFORM_TENANTS_MANAGE)
    if form.is_valid():
        try:
            changed = set_limits(actor, organisation_id=organisation_id, limits=form.limits())
        except DomainError as error:
            show_error(form, error)
        else:
            words = ngettext("%(count)s limit was set.", "%(count)s limits were set.", changed) % {"count": changed}
            return done(request, words, "console:organisation_quotas", organisation_id)
    return refused(request, QUOTAS, context)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def packages(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    """All packages, or those ticked."""
    organisation = reads.get(request.actor, organisation_id)
    listed = restriction(organisation_id)
    initial = {"which": ALL if listed is None else LISTED, "packages": listed or []}
    form = PackagesForm(request.POST or None, actor=request.actor, initial=initial)
    if request.method == "POST":
        request.actor.require(P.PLATFORM_TENANTS_MANAGE)
        if form.is_valid():
            restrict_packages(request.actor, organisation_id=organisation_id, package_ids=form.ids())
            words = _("The packages of %(name)s were set.") % {"name": organisation.name}
            return done(request, words, "console:organisation_packages", organisation_id)
    chosen = {str(value) for value in form["packages"].value() or []}
    context = {
        **frame(request.actor, organisation, "packages"),
        "form": form,
        "rows": [(package, str(package.pk) in chosen) for package in funds.packages(request.actor)],
    }
    return refused(request, PACKAGES, context) if request.method == "POST" else render(request, PACKAGES, context)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def terms(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    """Weight and, for who may recharge, the credit limit."""
    organisation = reads.get(request.actor, organisation_id)
    money = request.actor.may(P.PLATFORM_RECHARGE)
    form = TermsForm(request.POST or None, money=money, initial=_initial(organisation))
    if request.method == "POST" and form.is_valid():
        kept = _kept(request, organisation, form)
        if kept is not None:
            return _said(request, organisation, kept)
    guaranteed = GuaranteesForm(lines=guarantee_lines(request.actor, organisation_id))
    context = {**frame(request.actor, organisation, "terms"), "form": form, "may_set_credit": money}
    context["guaranteed"] = guaranteed
    return refused(request, TERMS, context) if request.method == "POST" else render(request, TERMS, context)


@requires(MANAGE)
@require_POST
def guarantees(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    """What it is guaranteed; refused, the page of its terms shows why."""
    organisation = reads.get(request.actor, organisation_id)
    guaranteed = GuaranteesForm(request.POST, lines=guarantee_lines(request.actor, organisation_id))
    if guaranteed.is_valid():
        try:
            set_guarantees(request.actor, organisation_id=organisation_id, milli=guaranteed.milli())
        except DomainError as error:
            show_error(guaranteed, error)
        else:
            words = _("The guarantees of %(name)s were set.") % {"name": organisation.name}
            return done(request, words, "console:organisation_terms", organisation_id)
    money = request.actor.may(P.PLATFORM_RECHARGE)
    form = TermsForm(None, money=money, initial=_initial(organisation))
    context = {**frame(request.actor, organisation, "terms"), "form": form, "may_set_credit": money}
    return refused(request, TERMS, {**context, "guaranteed": guaranteed})


def _kept(request: StaffRequest, organisation: Organisation, form: TermsForm) -> Outcome | None:
    """What became of the credit limit; None: refused, and the form says why."""
    data = form.cleaned_data
    try:
        with transaction.atomic():
            if data["weight"] != organisation.weight:
                set_weight(request.actor, organisation_id=organisation.pk, weight=data["weight"])
            if "credit_limit" in data and data["credit_limit"] != _credit_limit(organisation):
                return submit(request.actor, CreditLimit(organisation.pk, data["credit_limit"]))
    except DomainError as error:
        show_error(form, error)
        return None
    return Outcome()


def _said(request: StaffRequest, organisation: Organisation, kept: Outcome) -> HttpResponse:
    if kept.request is None:
        words = _("The terms of %(name)s were set.") % {"name": organisation.name}
        return done(request, words, "console:organisation_terms", organisation.pk)
    limit = {"limit": yuan(kept.request.terms["credit_limit_fen"])}
    words = _("Asked for a credit limit of %(limit)s: a second person has to approve it.") % limit
    if request.actor.may(P.PLATFORM_FINANCE_VIEW):
        return done(request, words, "console:change_request", kept.request.pk)
    return done(request, words, "console:organisation_terms", organisation.pk)


def _initial(organisation: Organisation) -> dict[str, Any]:
    yuan, rest = divmod(_credit_limit(organisation), FEN_PER_YUAN)
    return {"weight": organisation.weight, "credit_limit": f"{yuan}.{rest:02d}"}


def _credit_limit(organisation: Organisation) -> int:
    wallet = Account.objects.filter(organisation=organisation, kind=AccountKind.CASH).first()
    return wallet.credit_limit_fen if wallet else 0
