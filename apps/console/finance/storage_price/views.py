"""The price of what is kept, by the GiB and hour, with its versions."""

from decimal import Decimal
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.billing.changes.effects import storage_effect
from apps.billing.changes.price_proposals import StoragePrice
from apps.billing.changes.services import Outcome
from apps.billing.prices.terms import over_terms
from apps.billing.storage.selectors import storage_price_history
from apps.common.access import on_platform, requires
from apps.common.formatting import moment
from apps.common.money import yuan_rate
from apps.common.pages import done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.effects import Review, asked, submit_reviewed, typed_again
from apps.console.finance.price_versions import planned_version, redirect_price_unchanged, with_state
from apps.console.finance.units.forms import UnitPriceForm
from apps.console.finance.units.listing import UnitPriceTable
from apps.console.kit.requests import StaffRequest
from apps.storage.metering import stored_gib

VIEW = on_platform(P.PLATFORM_PRICES_VIEW)
PAGE = "console/storage_price.html"


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def page(request: StaffRequest) -> HttpResponse:
    """The history, and the form that sets the next price in two steps."""
    again = typed_again(request)
    if request.method != "POST" or again is not None:
        return render(request, PAGE, _context(request, UnitPriceForm(initial=again)))
    request.actor.require(P.PLATFORM_PRICES_MANAGE)
    form = UnitPriceForm(request.POST)
    if form.is_valid():
        wanted = StoragePrice(form.cleaned_data["rate"], form.cleaned_data["effective_from"])
        made = submit_reviewed(request, form, wanted, _review(request, wanted))
        if isinstance(made, HttpResponse):
            return made
        if made is not None:
            return _said(request, made)
    return refused(request, PAGE, _context(request, form))


def _review(request: StaffRequest, wanted: StoragePrice) -> Review:
    title = _("Storage: %(rate)s a GiB?") % {"rate": yuan_rate(wanted.rate_fen_per_hour)}
    action = reverse("console:storage_price")
    back = _("Price of storage")
    return Review(title, action, back, action, lambda: storage_effect(request.actor, wanted, stored_gib()))


def _said(request: StaffRequest, made: Outcome) -> HttpResponse:
    if made.request is not None:
        return asked(request, made.request, "console:storage_price")
    version, new = made.result
    if not new:
        return redirect_price_unchanged(request, "console:storage_price")
    when = {"when": moment(version.effective_from, seconds=True)}
    return done(request, _("Storage has this price from %(when)s.") % when, "console:storage_price")


def _context(request: StaffRequest, form: UnitPriceForm) -> dict[str, Any]:
    history = with_state(storage_price_history(request.actor))
    in_force = next((each for each in history if each.state == "now"), None)  # type: ignore[attr-defined]
    return {
        "prices": paged(request, UnitPriceTable(history), per_page=20),
        "now": in_force,
        "terms": over_terms(in_force.rate_fen_per_hour if in_force else Decimal(0)),
        "planned": planned_version(history),
        "form": form,
        "zone": timezone.get_current_timezone_name(),
        "may_manage": request.actor.may(P.PLATFORM_PRICES_MANAGE),
    }
