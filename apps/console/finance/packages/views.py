"""Packages and their prices."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.billing import services
from apps.billing.changes.effects import package_effect
from apps.billing.changes.price_proposals import PackagePrice
from apps.billing.changes.services import change_package, follow_list, offer_package
from apps.billing.models import Package, PriceVersion
from apps.billing.requests.services import set_needs_review
from apps.common import bulk
from apps.common.access import on_platform, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound
from apps.common.formatting import moment
from apps.common.forms import show_error
from apps.common.money import yuan_rate
from apps.common.pages import done, paged, refused, say_refusal
from apps.common.permissions import Permission as P
from apps.console.finance.effects import Review, asked, submit_reviewed, typed_again
from apps.console.finance.packages.bulk_acts import PACKAGES
from apps.console.finance.packages.forms import NewPackageForm, PackageForm, initial_of
from apps.console.finance.packages.listing import PackageFilter, PackageTable
from apps.console.finance.price_versions import (
    PriceForm,
    PriceTable,
    planned_version,
    redirect_price_unchanged,
    with_state,
)
from apps.console.finance.units.words import made_of
from apps.console.kit.requests import StaffRequest
from apps.workloads.offers.possible import obstacles

PRICES = on_platform(P.PLATFORM_PRICES_MANAGE)
VIEW = on_platform(P.PLATFORM_PRICES_VIEW)
MANAGE = on_platform(P.PLATFORM_PRICES_MANAGE)
FORM, DETAIL = "console/packages/form.html", "console/packages/detail.html"


@requires(PRICES)
@require_POST
def needs_review(request: StaffRequest, package_id: int) -> HttpResponse:
    wanted = request.POST.get("needs_review") == "yes"
    set_needs_review(request.actor, package_id=package_id, needs_review=wanted)
    words = _("People have to ask for it from now on.") if wanted else _("It needs no approval any more.")
    return done(request, words, "console:package", package_id)


@requires(VIEW)
@require_GET
def package_list(request: StaffRequest) -> HttpResponse:
    everything = funds.packages(request.actor, active_only=False)
    filtered = PackageFilter(request.GET, queryset=everything, request=request)
    table = paged(request, PackageTable(filtered.qs, bulk=bulk.offered(request, PACKAGES)))
    table.obstacles = obstacles([row.record for row in table.page.object_list if row.record.active])
    may_manage = request.actor.may(P.PLATFORM_PRICES_MANAGE)
    context = {"table": table, "filter": filtered, "may_manage": may_manage}
    return render(request, "console/packages/list.html", context)


@requires(MANAGE)
@require_POST
def bulk_act(request: StaffRequest) -> HttpResponse:
    return bulk.answer(request, PACKAGES)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    form = NewPackageForm(request.POST or None)
    if request.method != "POST":
        return render(request, FORM, {"form": form})
    if form.is_valid():
        try:
            rate, follows = form.cleaned_data["rate"], form.cleaned_data["follows_list"]
            package, priced = offer_package(
                request.actor, spec=form.spec(), rate_fen_per_hour=rate, follows_list=follows
            )
        except DomainError as error:
            show_error(form, error)
        else:
            if priced.request is not None:
                return asked(request, priced.request, "console:package", package.pk)
            return done(request, _("%(name)s is on offer.") % {"name": _name(package)}, "console:package", package.pk)
    return refused(request, FORM, {"form": form})


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def edit(request: StaffRequest, package_id: int) -> HttpResponse:
    package = _get(request.actor, package_id)
    form = PackageForm(request.POST or None, initial=initial_of(package))
    context = {"form": form, "package": package}
    if request.method != "POST":
        return render(request, FORM, context)
    if form.is_valid():
        try:
            change_package(request.actor, package_id=package_id, spec=form.spec())
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The package was changed."), "console:package", package_id)
    return refused(request, FORM, context)


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, package_id: int) -> HttpResponse:
    return render(request, DETAIL, _context(request, _get(request.actor, package_id), PriceForm()))


@requires(MANAGE)
@require_POST
def price(request: StaffRequest, package_id: int) -> HttpResponse:
    """Two steps: what the price does, then the price."""
    package, again = _get(request.actor, package_id), typed_again(request)
    if again is not None:
        return render(request, DETAIL, _context(request, package, PriceForm(initial=again)))
    form = PriceForm(request.POST)
    if form.is_valid():
        wanted = PackagePrice(package_id, form.cleaned_data["rate"], form.cleaned_data["effective_from"])
        made = submit_reviewed(request, form, wanted, _review(request, package, wanted))
        if isinstance(made, HttpResponse):
            return made
        if made is not None and made.request is not None:
            return asked(request, made.request, "console:package", package_id)
        if made is not None:
            return _price_set(request, package_id, made.result)
    return refused(request, DETAIL, _context(request, package, form))


def _review(request: StaffRequest, package: Package, wanted: PackagePrice) -> Review:
    names = {"name": _name(package), "rate": yuan_rate(wanted.rate_fen_per_hour)}
    back = reverse("console:package", args=[package.pk])
    action = reverse("console:package_price", args=[package.pk])
    return Review(
        _("%(name)s: %(rate)s?") % names, action, names["name"], back, lambda: package_effect(request.actor, wanted)
    )


def _price_set(request: StaffRequest, package_id: int, priced: services.Priced[PriceVersion]) -> HttpResponse:
    version, new = priced
    if not new:
        return redirect_price_unchanged(request, "console:package", package_id)
    words = _("Price version %(number)s: %(rate)s from %(when)s.") % {
        "number": version.number,
        "rate": yuan_rate(version.rate_fen_per_hour),
        "when": moment(version.effective_from, seconds=True),
    }
    return done(request, words, "console:package", package_id)


@requires(MANAGE)
@require_POST
def follow(request: StaffRequest, package_id: int) -> HttpResponse:
    """`follows=yes`: its price follows the price list from now on; otherwise it keeps its present price."""
    follows = request.POST.get("follows") == "yes"
    try:
        follow_list(request.actor, package_id=package_id, follows=follows)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:package", package_id)
    words = _("Its price follows the price list.") if follows else _("It keeps its price until you set another.")
    return done(request, words, "console:package", package_id)


@requires(MANAGE)
@require_POST
def withdraw(request: StaffRequest, package_id: int) -> HttpResponse:
    services.deactivate_package(request.actor, package_id=package_id)
    return done(request, _("The package is withdrawn: nothing new starts on it."), "console:package", package_id)


@requires(MANAGE)
@require_POST
def offer(request: StaffRequest, package_id: int) -> HttpResponse:
    services.activate_package(request.actor, package_id=package_id)
    return done(request, _("The package is on offer again."), "console:package", package_id)


def _get(actor: Actor, package_id: int) -> Package:
    package = funds.packages(actor, active_only=False).filter(pk=package_id).first()
    if package is None:
        raise NotFound
    return package


def _name(package: Package) -> str:
    return package.name(get_language() or "")


def _context(request: StaffRequest, package: Package, form: PriceForm) -> dict[str, Any]:
    history = with_state(funds.price_history(request.actor, package_id=package.pk))
    return {
        "package": package,
        "form": form,
        "prices": paged(request, PriceTable(history), per_page=20),
        "planned": planned_version(history),
        "made": made_of(package),
        "obstacle": obstacles([package]).get(package.pk) if package.active else None,
        "zone": timezone.get_current_timezone_name(),
        "may_manage": request.actor.may(P.PLATFORM_PRICES_MANAGE),
    }
