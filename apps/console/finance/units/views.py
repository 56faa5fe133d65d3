"""What the price list can have prices for."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing import services
from apps.billing.models import Package, UnitPrice
from apps.billing.prices.units import selectors as listing
from apps.clusters.models import Accelerator
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError, NotFound
from apps.common.forms import show_error
from apps.common.pages import done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.price_versions import dated, planned_of, priced_so_already
from apps.console.finance.units.forms import NewUnitForm, UnitPriceForm
from apps.console.finance.units.listing import UnitPriceTable, UnitTable
from apps.console.finance.units.words import unit_words
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_PRICES_VIEW)
MANAGE = on_platform(P.PLATFORM_PRICES_MANAGE)
FORM, DETAIL = "console/units/form.html", "console/units/detail.html"


def gpu_models() -> list[str]:
    """Models that machines have and packages name, in alphabetical order."""
    seen = Accelerator.objects.values_list("model", flat=True).distinct().order_by()
    named = Package.objects.exclude(gpu_model="").values_list("gpu_model", flat=True).distinct().order_by()
    return sorted({*seen, *named})


@requires(VIEW)
@require_GET
def unit_list(request: StaffRequest) -> HttpResponse:
    context = {
        "table": paged(request, UnitTable(listing.listed(request.actor))),
        "followers": listing.followers().count(),
        "may_manage": request.actor.may(P.PLATFORM_PRICES_MANAGE),
    }
    return render(request, "console/units/list.html", context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    form = NewUnitForm(request.POST or None)
    context = {"form": form, "models": gpu_models(), "zone": timezone.get_current_timezone_name()}
    if request.method != "POST":
        return render(request, FORM, context)
    if form.is_valid():
        priced = _set(request, form, form.unit)
        if priced is not None and not priced.new:
            return priced_so_already(request, "console:unit", priced.version.pk)
        if priced is not None:
            words = _("%(unit)s is on the price list.") % {"unit": _words(priced.version)}
            return done(request, words, "console:units")
    return refused(request, FORM, context)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def detail(request: StaffRequest, price_id: int) -> HttpResponse:
    """A unit by one of its versions: the history, and the form that sets the next price."""
    shown = _get(request, price_id)
    if request.method != "POST":
        return render(request, DETAIL, _context(request, shown, UnitPriceForm()))
    request.actor.require(P.PLATFORM_PRICES_MANAGE)
    form = UnitPriceForm(request.POST)
    if form.is_valid():
        priced = _set(request, form, lambda: listing.unit_of(shown))
        if priced is not None and not priced.new:
            return priced_so_already(request, "console:unit", priced.version.pk)
        if priced is not None:
            words = _("The price was set; packages that follow the list have it.")
            return done(request, words, "console:unit", priced.version.pk)
    return refused(request, DETAIL, _context(request, shown, form))


@requires(MANAGE)
@require_POST
def end(request: StaffRequest, price_id: int) -> HttpResponse:
    shown = _get(request, price_id)
    try:
        services.end_unit_price(request.actor, price_id=price_id)
    except DomainError as error:
        form = UnitPriceForm()
        return refused(request, DETAIL, {**_context(request, shown, form), "refusal": str(error.message)})
    return done(request, _("%(unit)s is no longer on the price list.") % {"unit": _words(shown)}, "console:units")


def _set(request: StaffRequest, form: UnitPriceForm, unit: Any) -> services.Priced[UnitPrice] | None:
    rate, start = form.cleaned_data["rate"], form.cleaned_data["effective_from"]
    try:
        return services.set_unit_price(request.actor, unit=unit(), rate_fen_per_hour=rate, effective_from=start)
    except DomainError as error:
        show_error(form, error)
        return None


def _get(request: StaffRequest, price_id: int) -> UnitPrice:
    found = listing.unit_price(request.actor, price_id)
    if found is None:
        raise NotFound
    return found


def _words(price: UnitPrice) -> str:
    return unit_words(listing.unit_of(price))


def _context(request: StaffRequest, shown: UnitPrice, form: UnitPriceForm) -> dict[str, Any]:
    unit = listing.unit_of(shown)
    history = dated(listing.unit_history(request.actor, unit))
    endless = (version for version in history if version.effective_to is None and version.state == "now")  # type: ignore[attr-defined]
    return {
        "unit": unit,
        "name": unit_words(unit),
        "form": form,
        "open_version": next(endless, None),
        "prices": paged(request, UnitPriceTable(history), per_page=20),
        "planned": planned_of(history),
        "zone": timezone.get_current_timezone_name(),
        "may_manage": request.actor.may(P.PLATFORM_PRICES_MANAGE),
    }
