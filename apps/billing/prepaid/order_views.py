"""One prepaid order: what is paid and left, renewing it, another package in its place, giving it back."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.choices import PrepaidEnd, PrepaidStatus
from apps.billing.models import PrepaidOrder
from apps.billing.prepaid import changes as prepaid_changes
from apps.billing.prepaid import selectors as reads
from apps.billing.prepaid import services
from apps.billing.prepaid.forms import ChangeForm, RenewalFields, RenewForm, SeenForm
from apps.billing.prepaid.selectors import PrepaidQuote
from apps.billing.prices.own import own_terms
from apps.common.access import in_organisation, requires
from apps.common.clock import db_now
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import REFUSED, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest

VIEW, PREPAY = in_organisation(Permission.BILLING_VIEW), in_organisation(Permission.BILLING_PREPAY)
DETAIL, CHANGE = "billing/prepaid/order.html", "billing/prepaid/change.html"


@requires(VIEW)
@require_GET
def order(request: ActorRequest, prepaid_order_id: UUID) -> HttpResponse:
    return render(request, DETAIL, _page(request, reads.prepaid_order(request.actor, prepaid_order_id)))


def _page(request: ActorRequest, found: PrepaidOrder) -> dict[str, Any]:
    now = db_now()
    lives = found.status == PrepaidStatus.ACTIVE and now < found.covers_until
    may_act = lives and request.actor.may(Permission.BILLING_PREPAY)
    quote = _renewal(found) if may_act else None
    context: dict[str, Any] = {
        "order": found,
        "purchases": reads.purchases(found),
        "in_grace": lives and found.ends_at <= now,
        "lives": lives,
        "may_act": may_act,
        "may_change": may_act and now < found.ends_at,
        "renewal": quote,
        "refundable_fen": reads.refundable_fen(found, now) if may_act else 0,
        "successor": PrepaidOrder.objects.filter(replaces=found).first(),
    }
    if may_act:
        context["settings_form"] = RenewalFields(initial={"auto_renew": found.auto_renew, "at_end": found.at_end})
    if quote:
        seen = {"periods": 1, "after": found.ends_at.isoformat(), "price": quote.price.pk, "off": quote.discount_off}
        context["renew_form"] = RenewForm(initial=seen)
    return context


def _renewal(found: PrepaidOrder) -> PrepaidQuote | None:
    """One period more; None where it is no longer offered."""
    try:
        return reads.renewal_quote(found)
    except DomainError:
        return None


@requires(PREPAY)
@require_POST
def renew(request: ActorRequest, prepaid_order_id: UUID) -> HttpResponse:
    form = RenewForm(request.POST)

    def act(data: dict[str, Any]) -> str:
        services.renew(
            request.actor,
            order_id=prepaid_order_id,
            after=data["after"],
            periods=data["periods"],
            seen=form.seen(data["price"]),
        )
        return _("The order was renewed.")

    return _answer(request, prepaid_order_id, form, act, "renew_form")


@requires(PREPAY)
@require_POST
def settings(request: ActorRequest, prepaid_order_id: UUID) -> HttpResponse:
    form = RenewalFields(request.POST)

    def act(data: dict[str, Any]) -> str:
        services.set_renewal(
            request.actor, order_id=prepaid_order_id, auto_renew=data["auto_renew"], at_end=PrepaidEnd(data["at_end"])
        )
        return _("Saved.")

    return _answer(request, prepaid_order_id, form, act, "settings_form")


def _answer(
    request: ActorRequest, order_id: UUID, form: forms.Form, act: Callable[[dict[str, Any]], str], name: str
) -> HttpResponse:
    """Do it and go back to the order; refused, the same page with what was typed."""
    if form.is_valid():
        try:
            messages.success(request, act(form.cleaned_data))
        except DomainError as error:
            show_error(form, error)
        else:
            return redirect("billing:prepaid_order", order_id)
    context = _page(request, reads.prepaid_order(request.actor, order_id))
    if isinstance(form, SeenForm) and context.get("renewal"):
        form.show_again(off=context["renewal"].discount_off, price=context["renewal"].price.pk)
    return render(request, DETAIL, {**context, name: form}, status=REFUSED)


@requires(PREPAY)
@require_http_methods(["GET", "POST"])
def change(request: ActorRequest, prepaid_order_id: UUID) -> HttpResponse:
    """Another package or number of replicas for the rest of the time, with what goes back and what it costs."""
    found = reads.prepaid_order(request.actor, prepaid_order_id)
    offers = [each for each in reads.offers(request.actor) if each.term == found.term]
    own = own_terms(request.actor)
    same = next((each.pk for each in offers if each.package == found.package), None)
    initial = {"quantity": found.quantity, "price": same, "off": own.off}
    form = ChangeForm(request.POST or None, offers=offers, own=own, initial=initial)
    if request.method == "POST" and form.is_valid():
        price, quantity = form.chosen, form.cleaned_data["quantity"]
        try:
            made = prepaid_changes.change(
                request.actor,
                order_id=prepaid_order_id,
                package_id=price.package_id,
                quantity=quantity,
                seen=form.seen(price.pk),
            )
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("The order was changed; this one takes its place."))
            return redirect("billing:prepaid_order", made.pk)
    if form.is_bound:
        form.show_again(off=own.off)
    context = {
        "order": found,
        "form": form,
        "offers": offers,
        "refundable_fen": reads.refundable_fen(found),
        "rest": [{"offer": each, "fen": reads.rest_fen(found, each)} for each in offers],
    }
    return render(request, CHANGE, context, status=REFUSED if request.method == "POST" else 200)


@requires(PREPAY)
@require_http_methods(["GET", "POST"])
def give_back(request: ActorRequest, prepaid_order_id: UUID) -> HttpResponse:
    """A dialog first, with what would be returned at this moment."""
    found = reads.prepaid_order(request.actor, prepaid_order_id)
    if request.method == "POST":
        try:
            prepaid_changes.give_back(request.actor, order_id=prepaid_order_id)
        except DomainError as error:
            say_refusal(request, error)
        else:
            messages.success(request, _("The unused part is back in the wallet."))
        return redirect("billing:prepaid_order", prepaid_order_id)
    context = {
        "title": _("Cancel this order?"),
        "text": _("About %(amount)s go back to the wallet; what was used until now stays paid.")
        % {"amount": yuan(reads.refundable_fen(found))},
        "lost": _("The cover: what runs on it is charged by the hour at once"),
        "kept": _("Everything that runs"),
        "button": _("Give back"),
        "action": reverse("billing:prepaid_give_back", args=[prepaid_order_id]),
    }
    return render(request, "components/confirm_body.html", context)
