"""The price of what is kept, by the GiB and hour, with its versions."""

from decimal import Decimal
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.billing.prices.terms import over_terms
from apps.billing.storage.selectors import storage_price_history
from apps.billing.storage.services import set_storage_price
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError
from apps.common.formatting import moment
from apps.common.forms import show_error
from apps.common.pages import done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.price_versions import dated, planned_of, priced_so_already
from apps.console.finance.units.forms import UnitPriceForm
from apps.console.finance.units.listing import UnitPriceTable
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_PRICES_VIEW)
PAGE = "console/storage_price.html"


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def page(request: StaffRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, PAGE, _context(request, UnitPriceForm()))
    request.actor.require(P.PLATFORM_PRICES_MANAGE)
    form = UnitPriceForm(request.POST)
    if form.is_valid():
        data = form.cleaned_data
        try:
            version, new = set_storage_price(
                request.actor, rate_fen_per_hour=data["rate"], effective_from=data["effective_from"]
            )
        except DomainError as error:
            show_error(form, error)
        else:
            if not new:
                return priced_so_already(request, "console:storage_price")
            when = {"when": moment(version.effective_from, seconds=True)}
            return done(request, _("Storage has this price from %(when)s.") % when, "console:storage_price")
    return refused(request, PAGE, _context(request, form))


def _context(request: StaffRequest, form: UnitPriceForm) -> dict[str, Any]:
    history = dated(storage_price_history(request.actor))
    in_force = next((each for each in history if each.state == "now"), None)  # type: ignore[attr-defined]
    return {
        "prices": paged(request, UnitPriceTable(history), per_page=20),
        "now": in_force,
        "terms": over_terms(in_force.rate_fen_per_hour if in_force else Decimal(0)),
        "planned": planned_of(history),
        "form": form,
        "zone": timezone.get_current_timezone_name(),
        "may_manage": request.actor.may(P.PLATFORM_PRICES_MANAGE),
    }
