"""Prepaid time of an organisation: its orders, a new one with what it costs and saves."""

from typing import Any
from uuid import uuid4

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.billing.choices import PrepaidEnd, Term
from apps.billing.formula import per_cent
from apps.billing.models import PrepaidOrder, TermPrice
from apps.billing.prepaid import selectors as reads
from apps.billing.prepaid import services
from apps.billing.prepaid.forms import OrderFilterForm, OrderForm
from apps.billing.prepaid.selectors import PrepaidQuote
from apps.billing.prepaid.tables import PrepaidTable
from apps.billing.prices.own import own_terms
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.formatting import moment
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import REFUSED, paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest

VIEW, PREPAY = in_organisation(Permission.BILLING_VIEW), in_organisation(Permission.BILLING_PREPAY)
LIST, NEW = "billing/prepaid/list.html", "billing/prepaid/new.html"


@requires(VIEW)
@require_GET
def order_list(request: ActorRequest) -> HttpResponse:
    rows, form = reads.prepaid_orders(request.actor), OrderFilterForm(request.GET)
    table = PrepaidTable(narrow(rows, form), request=request)
    paged(request, table)
    context = {
        "form": form,
        "table": table,
        "any": rows.exists(),
        "offered": reads.offers(request.actor).exists(),
        "may_prepay": request.actor.may(Permission.BILLING_PREPAY),
    }
    return render(request, LIST, context)


def narrow(rows: "QuerySet[PrepaidOrder]", form: OrderFilterForm) -> "QuerySet[PrepaidOrder]":
    """Values that cannot be parsed are ignored."""
    data = form.cleaned_data if form.is_valid() else {}
    if data.get("status"):
        rows = rows.filter(status=data["status"])
    if text := data.get("q"):
        by_name = Q(package__name_en__icontains=text) | Q(package__name_zh__icontains=text)
        rows = rows.filter(by_name | Q(user__username__icontains=text) | Q(user__name__icontains=text))
    return rows


@requires(PREPAY)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """`?package=` chooses one. The right side quotes what is typed."""
    offers, own = list(reads.offers(request.actor)), own_terms(request.actor)
    if request.method != "POST":
        asked = _asked_for(offers, request.GET.get("package", ""))
        form = OrderForm(initial={"price": asked, "key": str(uuid4()), "off": own.off}, offers=offers, own=own)
        return render(request, NEW, {"form": form, "offers": offers})
    form = OrderForm(request.POST, offers=offers, own=own)
    if form.is_valid():
        try:
            made = services.order(request.actor, wanted=_wanted(form))
        except DomainError as error:
            show_error(form, error)
        else:
            return redirect("billing:prepaid_order", made.pk)
    form.show_again(off=own.off)
    return render(request, NEW, {"form": form, "offers": offers}, status=REFUSED)


def _asked_for(offers: list[TermPrice], package: str) -> int | None:
    wanted = [offer.pk for offer in offers if str(offer.package_id) == package]
    return next(iter(wanted or [offer.pk for offer in offers]), None)


def _wanted(form: OrderForm) -> services.OrderSpec:
    data, price = form.cleaned_data, form.chosen
    return services.OrderSpec(
        package_id=price.package_id,
        term=Term(price.term),
        key=data["key"],
        quantity=data["quantity"],
        periods=data["periods"],
        auto_renew=data["auto_renew"],
        at_end=PrepaidEnd(data["at_end"]),
        seen=form.seen(price.pk),
    )


@requires(PREPAY)
@require_POST
def quote(request: ActorRequest) -> HttpResponse:
    """The fragment beside the form: what it costs, from when to when, what it saves, what is left."""
    offers, own = list(reads.offers(request.actor)), own_terms(request.actor)
    form = OrderForm(request.POST, offers=offers, own=own)
    form.is_valid()
    found = _quoted(request.actor, form)
    card = _card(request.actor, found) if found else _no_card()
    return render(request, "components/quote.html", {"quote": card, "form_id": "new-prepaid"})


def _quoted(actor: Actor, form: OrderForm) -> PrepaidQuote | None:
    """None while something is missing or out of range; the form says what when it is sent."""
    data = form.cleaned_data
    if not {"price", "quantity", "periods"} <= data.keys():
        return None
    price = form.chosen
    try:
        return reads.prepaid_quote(
            actor,
            package_id=price.package_id,
            term=Term(price.term),
            quantity=data["quantity"],
            periods=data["periods"],
        )
    except DomainError:
        return None


def _no_card() -> dict[str, Any]:
    return {"price": "—", "sub": _("Choose a package, replicas and periods."), "button": _("Pay"), "blocked": _("Pay")}


def _card(actor: Actor, found: PrepaidQuote) -> dict[str, Any]:
    """What `components/quote.html` reads."""
    card: dict[str, Any] = {
        "label": _("Paid at once from the wallet"),
        "price": yuan(found.amount_fen),
        "sub": _("%(start)s to %(end)s") % {"start": moment(found.starts_at), "end": moment(found.ends_at)},
        "rows": _rows(found),
        "button": _("Pay %(amount)s") % {"amount": yuan(found.amount_fen)},
        "icon": "calendar-check",
        "foot": _("What is unused comes back pro rata whenever you give it back."),
    }
    if found.shortfall_fen:
        card["problem"] = {"title": _("%(amount)s short") % {"amount": yuan(found.shortfall_fen)}}
        card["blocked"] = card["button"]
        if actor.may(Permission.BILLING_TOP_UP):
            card["top_up_url"] = reverse("billing:top_up")
    return card


def _rows(found: PrepaidQuote) -> list[dict[str, Any]]:
    rows = [{"label": _("Available in the wallet"), "value": yuan(found.available_fen)}]
    if found.discount_off:
        listed = {"label": _("Listed price"), "value": yuan(found.list_fen)}
        less = yuan(found.list_fen - found.amount_fen)
        rows += [listed, {"label": _("Discount"), "value": f"-{less}", "sub": per_cent(found.discount_off)}]
    if found.by_hour_fen is not None:
        rows.append({"label": _("The same time by the hour"), "value": yuan(found.by_hour_fen)})
    if found.saved_fen:
        saved = {"label": _("Saved, running throughout"), "value": yuan(found.saved_fen)}
        rows.append({**saved, "sub": _("%(percent)s %%") % {"percent": found.saved_percent}})
    if found.worth_hours is not None:
        hours = _("%(hours)s h in use") % {"hours": f"{found.worth_hours:,}"}
        rows.append({"label": _("Cheaper than by the hour from"), "value": hours})
    return rows
