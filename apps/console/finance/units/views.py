"""What the price list can have prices for."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.changes.effects import unit_effect
from apps.billing.changes.price_proposals import ListedPrice
from apps.billing.changes.services import end_listed_price
from apps.billing.models import Package, UnitPrice
from apps.billing.prices.pricelist import Unit
from apps.billing.prices.units import selectors as listing
from apps.clusters.models import Accelerator
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError, NotFound
from apps.common.money import yuan_rate
from apps.common.pages import done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.effects import Review, asked, submit_reviewed, typed_again
from apps.console.finance.price_versions import planned_version, redirect_price_unchanged, with_state
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
        "table": paged(request, UnitTable(listing.listed_units(request.actor))),
        "followers": listing.packages_following_list().count(),
        "may_manage": request.actor.may(P.PLATFORM_PRICES_MANAGE),
    }
    return render(request, "console/units/list.html", context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    again = typed_again(request)
    form = NewUnitForm(initial=again) if again is not None else NewUnitForm(request.POST or None)
    context = {"form": form, "models": gpu_models(), "zone": timezone.get_current_timezone_name()}
    if request.method != "POST" or again is not None:
        return render(request, FORM, context)
    if form.is_valid():
        made = _set(request, form, form.unit(), reverse("console:unit_new"))
        if made is not None:
            return made
    return refused(request, FORM, context)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def detail(request: StaffRequest, price_id: int) -> HttpResponse:
    """A unit by one of its versions: the history, and the form that sets the next price in two steps."""
    shown, again = _get(request, price_id), typed_again(request)
    if request.method != "POST" or again is not None:
        return render(request, DETAIL, _context(request, shown, UnitPriceForm(initial=again)))
    request.actor.require(P.PLATFORM_PRICES_MANAGE)
    form = UnitPriceForm(request.POST)
    if form.is_valid():
        made = _set(request, form, listing.unit_of(shown), request.path)
        if made is not None:
            return made
    return refused(request, DETAIL, _context(request, shown, form))


@requires(MANAGE)
@require_POST
def end(request: StaffRequest, price_id: int) -> HttpResponse:
    shown = _get(request, price_id)
    try:
        end_listed_price(request.actor, price_id=price_id)
    except DomainError as error:
        form = UnitPriceForm()
        return refused(request, DETAIL, {**_context(request, shown, form), "refusal": str(error.message)})
    return done(request, _("%(unit)s is no longer on the price list.") % {"unit": _words(shown)}, "console:units")


def _set(request: StaffRequest, form: UnitPriceForm, unit: Unit, action: str) -> HttpResponse | None:
    """What the price does, then the price; None: refused, and the form says why."""
    wanted = ListedPrice(unit, form.cleaned_data["rate"], form.cleaned_data["effective_from"])
    names = {"name": unit_words(unit) if form.is_valid() else "", "rate": yuan_rate(wanted.rate_fen_per_hour)}
    title, back = _("%(name)s: %(rate)s?") % names, reverse("console:units")
    review = Review(title, action, _("Price list"), back, lambda: unit_effect(request.actor, wanted))
    made = submit_reviewed(request, form, wanted, review)
    if made is None or isinstance(made, HttpResponse):
        return made
    if made.request is not None:
        return asked(request, made.request, "console:units")
    version, is_new = made.result
    if not is_new:
        return redirect_price_unchanged(request, "console:unit", version.pk)
    if action == reverse("console:unit_new"):
        return done(request, _("%(unit)s is on the price list.") % {"unit": _words(version)}, "console:units")
    return done(request, _("The price was set; packages that follow the list have it."), "console:unit", version.pk)


def _get(request: StaffRequest, price_id: int) -> UnitPrice:
    found = listing.unit_price(request.actor, price_id)
    if found is None:
        raise NotFound
    return found


def _words(price: UnitPrice) -> str:
    return unit_words(listing.unit_of(price))


def _context(request: StaffRequest, shown: UnitPrice, form: UnitPriceForm) -> dict[str, Any]:
    unit = listing.unit_of(shown)
    history = with_state(listing.unit_history(request.actor, unit))
    endless = (version for version in history if version.effective_to is None and version.state == "now")  # type: ignore[attr-defined]
    return {
        "unit": unit,
        "name": unit_words(unit),
        "form": form,
        "open_version": next(endless, None),
        "prices": paged(request, UnitPriceTable(history), per_page=20),
        "planned": planned_version(history),
        "zone": timezone.get_current_timezone_name(),
        "may_manage": request.actor.may(P.PLATFORM_PRICES_MANAGE),
    }
