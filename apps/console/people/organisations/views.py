"""Organisations: the list, a new one, one of them, freezing it."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.billing.choices import ArrearsStatus
from apps.common import bulk
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError
from apps.common.formatting import estimated_moment
from apps.common.forms import show_error
from apps.common.money import yuan, yuan_rate
from apps.common.pages import done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.common.templatetags.pl_filters import exact_yuan
from apps.console.kit.requests import StaffRequest
from apps.console.people.organisations import selectors as reads
from apps.console.people.organisations.bulk_acts import ORGANISATIONS
from apps.console.people.organisations.forms import OrganisationForm
from apps.console.people.organisations.listing import OrganisationListFilter, OrganisationTable
from apps.tenants import services as tenants
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)
NEW = "console/organisations/new.html"


@requires(VIEW)
@require_GET
def organisation_list(request: StaffRequest) -> HttpResponse:
    filtered = OrganisationListFilter(request.GET, queryset=reads.organisations(request.actor), request=request)
    money = request.actor.may(P.PLATFORM_FINANCE_VIEW)
    burns = funds.burn_by_organisation() if money else {}
    table = paged(
        request, OrganisationTable(filtered.qs, burns=burns, money=money, bulk=bulk.offered(request, ORGANISATIONS))
    )
    return render(request, "console/organisations/list.html", {"table": table, "filter": filtered})


@requires(MANAGE)
@require_POST
def bulk_act(request: StaffRequest) -> HttpResponse:
    return bulk.answer(request, ORGANISATIONS)


@requires(on_platform(P.PLATFORM_OVERVIEW))
@require_GET
def suggestions(request: StaffRequest) -> HttpResponse:
    """`<option>`s for a field that completes; the field's own value comes as `organisation`."""
    rows = reads.suggestions(request.GET.get("organisation", "").strip())
    return render(request, "console/widgets/options.html", {"rows": rows})


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    form = OrganisationForm(request.POST or None)
    if request.method != "POST":
        return render(request, NEW, {"form": form})
    if form.is_valid():
        try:
            made = tenants.create_organisation(request.actor, **form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            words = _("%(name)s exists. Add its first member, then recharge it.") % {"name": made.name}
            return done(request, words, "console:organisation_members", made.pk)
    return refused(request, NEW, {"form": form})


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    actor = request.actor
    organisation = reads.get(actor, organisation_id)
    money = reads.money(actor, organisation_id)
    context = {
        **frame(actor, organisation, "overview"),
        "money": money,
        "strip": _strip(organisation, money),
        "live": reads.live_workloads(organisation_id)[:10],
        "limits": reads.limits(actor, organisation_id),
        "sees_work": actor.may(P.PLATFORM_WORKLOADS_VIEW),
    }
    return render(request, "console/organisations/detail.html", context)


def frame(actor: Actor, organisation: Organisation, current: str) -> dict[str, Any]:
    """Header and tabs that every page of one organisation shows."""
    pages = {
        "overview": pgettext("tab", "Overview"),
        "members": _("Members"),
        "departments": _("Departments"),
        "roles": _("Roles"),
        "quotas": _("Quotas"),
        "packages": _("Packages"),
        "terms": _("Terms"),
        **({"arrears": _("Arrears")} if actor.may(P.PLATFORM_FINANCE_VIEW) else {}),
    }
    names = {
        "overview": "console:organisation",
        "members": "console:organisation_members",
        "departments": "console:organisation_departments",
        "roles": "console:organisation_roles",
        "quotas": "console:organisation_quotas",
        "packages": "console:organisation_packages",
        "terms": "console:organisation_terms",
        "arrears": "console:organisation_arrears",
    }
    return {
        "organisation": organisation,
        "frozen": organisation.status == OrganisationStatus.FROZEN,
        "may_manage": actor.may(P.PLATFORM_TENANTS_MANAGE),
        "may_recharge": actor.may(P.PLATFORM_RECHARGE),
        "tabs": [
            {
                "label": label,
                "url": reverse(names[name], args=[organisation.pk]),
                "current": name == current,
                "count": organisation.members if name == "members" else None,  # type: ignore[attr-defined]  # annotated
            }
            for name, label in pages.items()
        ],
    }


def _strip(organisation: Organisation, money: reads.Money | None) -> list[dict[str, Any]]:
    live = organisation.live  # type: ignore[attr-defined]  # annotated by the selector
    cells = [{"label": _("Running and waiting"), "value": live, "unit": ngettext("workload", "workloads", live)}]
    return cells if money is None else [*_money_cells(money), *cells]


def _money_cells(money: reads.Money) -> list[dict[str, Any]]:
    wallet = money.wallet
    lasts = _("lasts until %(when)s") % {"when": estimated_moment(wallet.runs_until)} if wallet.runs_until else ""
    return [
        {
            "label": _("Balance"),
            "value": yuan(wallet.balance_fen),
            "sub": _("%(held)s held, %(available)s available")
            % {"held": yuan(wallet.held_fen), "available": yuan(wallet.available_fen)},
            "tone": {ArrearsStatus.NORMAL: "", ArrearsStatus.LOW: "warn"}.get(wallet.status, "fail"),
        },
        {
            "label": _("Metered now"),
            "value": yuan_rate(wallet.burn_fen_per_hour),
            "sub": lasts or _("nothing is being charged"),
        },
        {
            "label": _("Charged in 30 days"),
            "value": yuan(money.consumed_fen),
            "sub": _("%(exact)s before rounding") % {"exact": exact_yuan(money.exact_fen)},
        },
    ]


@requires(MANAGE)
@require_POST
def freeze(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    return _set_status(request, organisation_id, OrganisationStatus.FROZEN, _("%(name)s is frozen."))


@requires(MANAGE)
@require_POST
def unfreeze(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    return _set_status(request, organisation_id, OrganisationStatus.ACTIVE, _("%(name)s may work again."))


def _set_status(request: StaffRequest, organisation_id: UUID, status: OrganisationStatus, words: str) -> HttpResponse:
    try:
        organisation = tenants.set_organisation_status(request.actor, organisation_id=organisation_id, status=status)
    except Conflict as error:
        say_refusal(request, error)
        return redirect("console:organisation", organisation_id)
    return done(request, words % {"name": organisation.name}, "console:organisation", organisation_id)
