"""Discounts of organisations: every version, a new one, ending one."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.formula import per_cent
from apps.billing.prices.discounts.selectors import discounts
from apps.billing.prices.discounts.services import end_discount, set_discount
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.discounts.forms import DiscountForm
from apps.console.finance.discounts.listing import DiscountFilter, DiscountTable
from apps.console.finance.price_versions import dated
from apps.console.kit.organisations import find
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_PRICES_VIEW)
MANAGE = on_platform(P.PLATFORM_PRICES_MANAGE)
NEW = "console/discounts/new.html"


@requires(VIEW)
@require_GET
def discount_list(request: StaffRequest) -> HttpResponse:
    filtered = DiscountFilter(request.GET, queryset=discounts(request.actor), request=request)
    manages = request.actor.may(P.PLATFORM_PRICES_MANAGE)
    table = paged(request, DiscountTable(filtered.qs, exclude=() if manages else ("end",)))
    dated(row.record for row in table.paginated_rows)
    context = {"table": table, "filter": filtered, "may_manage": manages}
    return render(request, "console/discounts/list.html", context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    context: dict[str, Any] = {"zone": timezone.get_current_timezone_name()}
    if request.method != "POST":
        named = find(request.GET.get("organisation", ""))
        form = DiscountForm(initial={"organisation": named.name if named else ""})
        return render(request, NEW, {**context, "form": form})
    form = DiscountForm(request.POST)
    if form.is_valid():
        data = form.cleaned_data
        try:
            made = set_discount(
                request.actor,
                organisation_id=data["organisation"].pk,
                off=form.share(),
                effective_from=data["effective_from"],
                effective_to=data["effective_to"],
                note=data["note"],
            )
        except DomainError as error:
            show_error(form, error)
        else:
            words = {"name": data["organisation"].name, "off": per_cent(made.off)}
            return done(request, _("%(name)s has a discount of %(off)s.") % words, "console:discounts")
    return refused(request, NEW, {**context, "form": form})


@requires(MANAGE)
@require_POST
def end(request: StaffRequest, discount_id: int) -> HttpResponse:
    ended = end_discount(request.actor, discount_id=discount_id)
    words = _("The discount of %(name)s has ended. What runs keeps it.") % {"name": ended.organisation.name}
    return done(request, words, "console:discounts")
