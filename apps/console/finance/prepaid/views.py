"""Prepaid time of all organisations, and what a package costs by the day, month and year."""

from uuid import UUID

from django.db.models import Sum
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.billing import selectors as funds
from apps.billing.changes.period_effects import period_effect
from apps.billing.changes.price_proposals import PeriodPrice
from apps.billing.choices import PrepaidStatus, Term
from apps.billing.models import Package
from apps.billing.prepaid import selectors as reads
from apps.billing.prepaid.changes import give_back as give_order_back
from apps.common.access import on_platform, requires
from apps.common.clock import db_now
from apps.common.errors import DomainError, NotFound
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import done, paged, refused
from apps.common.permissions import Permission as P
from apps.console.finance.effects import Review, asked, submit_reviewed, typed_again
from apps.console.finance.prepaid.forms import GiveBackForm, TermPriceForm
from apps.console.finance.prepaid.listing import PrepaidFilter, PrepaidTable, TermPriceTable
from apps.console.finance.price_versions import redirect_price_unchanged
from apps.console.kit.requests import StaffRequest

VIEW, RECHARGE = on_platform(P.PLATFORM_FINANCE_VIEW), on_platform(P.PLATFORM_RECHARGE)
PRICES = on_platform(P.PLATFORM_PRICES_VIEW)
LIST, DETAIL = "console/prepaid/list.html", "console/prepaid/detail.html"
GIVE_BACK, TERMS = "console/prepaid/give_back.html", "console/prepaid/terms.html"


@requires(VIEW)
@require_GET
def order_list(request: StaffRequest) -> HttpResponse:
    filtered = PrepaidFilter(request.GET, queryset=reads.prepaid_orders(request.actor), request=request)
    sums = filtered.qs.order_by().aggregate(
        paid=Sum("paid_fen"), earned=Sum("earned_fen"), back=Sum("given_back_fen"), left=Sum("left_fen")
    )
    context = {"table": paged(request, PrepaidTable(filtered.qs)), "filter": filtered, "sums": sums}
    return render(request, LIST, context)


@requires(VIEW)
@require_GET
def detail(request: StaffRequest, prepaid_order_id: UUID) -> HttpResponse:
    found = reads.prepaid_order(request.actor, prepaid_order_id)
    lives = found.status == PrepaidStatus.ACTIVE and db_now() < found.covers_until
    context = {
        "order": found,
        "purchases": reads.purchases(found),
        "may_give_back": lives and request.actor.may(P.PLATFORM_RECHARGE),
        "reference": f"prepaid:{found.pk}",
    }
    return render(request, DETAIL, context)


@requires(RECHARGE)
@require_http_methods(["GET", "POST"])
def give_back(request: StaffRequest, prepaid_order_id: UUID) -> HttpResponse:
    """On the customer's behalf, with a reason that the log keeps."""
    found = reads.prepaid_order(request.actor, prepaid_order_id)
    form = GiveBackForm(request.POST or None)
    context = {"order": found, "form": form, "refundable_fen": reads.refundable_fen(found)}
    if request.method != "POST":
        return render(request, GIVE_BACK, context)
    if form.is_valid():
        try:
            give_order_back(request.actor, order_id=prepaid_order_id, reason=form.cleaned_data["reason"])
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The unused part is back in the wallet."), "console:prepaid_order", found.pk)
    return refused(request, GIVE_BACK, context)


@requires(PRICES)
@require_http_methods(["GET", "POST"])
def terms(request: StaffRequest, package_id: int) -> HttpResponse:
    """Versions, and a form that sets the next one of a term or ends the offer, once what it does has been confirmed."""
    package = _package(request, package_id)
    if request.method == "POST":
        request.actor.require(P.PLATFORM_PRICES_MANAGE)
    again = typed_again(request)
    form = TermPriceForm(initial=again) if again is not None else TermPriceForm(request.POST or None)
    if form.is_bound and form.is_valid():
        answer = _set_price(request, package, form)
        if answer is not None:
            return answer
    history = reads.term_price_history(request.actor, package_id=package_id)
    context = {
        "package": package,
        "form": form,
        "prices": paged(request, TermPriceTable(history)),
        "in_force": reads.term_prices().filter(package=package),
        "may_manage": request.actor.may(P.PLATFORM_PRICES_MANAGE),
    }
    return refused(request, TERMS, context) if form.is_bound else render(request, TERMS, context)


def _set_price(request: StaffRequest, package: Package, form: TermPriceForm) -> HttpResponse | None:
    """Two steps: what the price does, then the price. None: refused, and the form says why."""
    term, fen = Term(form.cleaned_data["term"]), form.cleaned_data["price"]
    wanted = PeriodPrice(package.pk, term, fen)
    if wanted.before()["price_fen"] == fen:
        return redirect_price_unchanged(request, "console:package_terms", package.pk)
    made = submit_reviewed(request, form, wanted, _review(request, package, wanted))
    if made is None or isinstance(made, HttpResponse):
        return made
    if made.request is not None:
        return asked(request, made.request, "console:package_terms", package.pk)
    said = _("The price was set.") if fen else _("It is not offered for this term any more.")
    return done(request, said, "console:package_terms", package.pk)


def _review(request: StaffRequest, package: Package, wanted: PeriodPrice) -> Review:
    names = {
        "name": package.name(get_language() or ""),
        "term": wanted.term.label,
        "price": yuan(wanted.price_fen or 0),
    }
    title = _("%(name)s, %(term)s: %(price)s?") if wanted.price_fen else _("%(name)s, %(term)s: end the offer?")
    there = reverse("console:package_terms", args=[package.pk])
    back = _("Prices by the period")
    return Review(title % names, there, back, there, lambda: period_effect(request.actor, wanted))


def _package(request: StaffRequest, package_id: int) -> Package:
    package = funds.packages(request.actor, active_only=False).filter(pk=package_id).first()
    if package is None:
        raise NotFound
    return package
