"""Discounts of organisations: every version, a new one, ending one."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.changes.effects import discount_effect
from apps.billing.changes.proposals import NewDiscount
from apps.billing.changes.services import Outcome
from apps.billing.prices.discounts.selectors import discounts
from apps.billing.prices.discounts.services import end_discount
from apps.common.access import on_platform, requires
from apps.common.discounts import discount_words
from apps.common.pages import done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.discounts.forms import PERCENT, ZHE, DiscountForm, share_of
from apps.console.finance.discounts.listing import DiscountFilter, DiscountTable
from apps.console.finance.effects import Review, asked, submit_reviewed, typed_again
from apps.console.finance.price_versions import with_state
from apps.console.kit.organisations import find_organisation
from apps.console.kit.requests import StaffRequest

VIEW = on_platform(P.PLATFORM_PRICES_VIEW)
MANAGE = on_platform(P.PLATFORM_PRICES_MANAGE)
NEW, READING = "console/discounts/new.html", "console/discounts/typed.html"


@requires(VIEW)
@require_GET
def discount_list(request: StaffRequest) -> HttpResponse:
    filtered = DiscountFilter(request.GET, queryset=discounts(request.actor), request=request)
    manages = request.actor.may(P.PLATFORM_PRICES_MANAGE)
    table = paged(request, DiscountTable(filtered.qs, exclude=() if manages else ("end",)))
    with_state(row.record for row in table.paginated_rows)
    context = {"table": table, "filter": filtered, "may_manage": manages}
    return render(request, "console/discounts/list.html", context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: StaffRequest) -> HttpResponse:
    """Two steps: the form, then what the discount does; nothing is written before that is confirmed."""
    context: dict[str, Any] = {"zone": timezone.get_current_timezone_name()}
    again = typed_again(request)
    if request.method != "POST" or again is not None:
        named = find_organisation(request.GET.get("organisation", ""))
        form = DiscountForm(initial=again or {"organisation": named.name if named else ""})
        return render(request, NEW, {**context, "form": form})
    form = DiscountForm(request.POST)
    if form.is_valid():
        made = submit_reviewed(request, form, wanted := _proposal(form), _review(request, form, wanted))
        if isinstance(made, HttpResponse):
            return made
        if made is not None:
            return _said(request, form, made)
    return refused(request, NEW, {**context, "form": form})


def _proposal(form: DiscountForm) -> NewDiscount:
    data = form.cleaned_data
    return NewDiscount(
        data["organisation"].pk, form.share(), data["effective_from"], data["effective_to"], data["note"]
    )


def _review(request: StaffRequest, form: DiscountForm, wanted: NewDiscount) -> Review:
    names = {"name": form.cleaned_data["organisation"].name, "discount": discount_words(wanted.off)}
    title = _("%(name)s: %(discount)s?") % names
    action, back = reverse("console:discount_new"), reverse("console:discounts")
    return Review(title, action, _("Discounts"), back, lambda: discount_effect(request.actor, wanted))


def _said(request: StaffRequest, form: DiscountForm, made: Outcome) -> HttpResponse:
    if made.request is not None:
        return asked(request, made.request, "console:discounts")
    words = {"name": form.cleaned_data["organisation"].name, "off": discount_words(form.share())}
    return done(request, _("%(name)s has a discount: %(off)s.") % words, "console:discounts")


@requires(MANAGE)
@require_GET
def reading(request: StaffRequest) -> HttpResponse:
    """Both readings of what is being typed, with a price before and after: what stands beside the field."""
    try:
        unit = ZHE if request.GET.get("unit") == ZHE else PERCENT
        off = share_of(request.GET.get("off", "")[:12], unit)
    except ValidationError as error:
        return render(request, READING, {"problem": error.messages[0] if request.GET.get("off") else ""})
    whose = find_organisation(request.GET.get("organisation", ""))
    steps = discount_effect(request.actor, NewDiscount(whose.pk, off)).steps if whose else ()
    return render(request, READING, {"off": off, "step": next(iter(steps), None)})


@requires(MANAGE)
@require_POST
def end(request: StaffRequest, discount_id: int) -> HttpResponse:
    ended = end_discount(request.actor, discount_id=discount_id)
    words = _("The discount of %(name)s has ended. What runs keeps it.") % {"name": ended.organisation.name}
    return done(request, words, "console:discounts")
