"""An offer as the card beside the button (`components/quote.html`) shows it, in words and amounts."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from apps.billing.formula import per_cent
from apps.billing.prepaid.seats import pay_ahead
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.formatting import estimated_moment, moment
from apps.common.money import yuan, yuan_rate
from apps.common.permissions import Permission
from apps.workloads import kinds
from apps.workloads.choices import Kind
from apps.workloads.explaining.causes import HOPELESS
from apps.workloads.offers.alternatives import difference_words
from apps.workloads.offers.one_more import fewest_rows, one_more_rows
from apps.workloads.offers.picker import PackageChoice
from apps.workloads.offers.proposals import proposals
from apps.workloads.offers.quoting import Offer
from apps.workloads.placing import is_simulated


def card(actor: Actor, offer: Offer | None, choices: Sequence[PackageChoice] = ()) -> dict[str, Any]:
    """`choices` are the packages from which alternatives may be proposed where this one cannot start."""
    if offer is None:
        return {
            "price": "—",
            "sub": _("Choose a package to see its price."),
            "blocked": _("Choose a package"),
            "foot": _foot(),
        }
    quote = offer.quote
    free = not quote.rate_fen_per_hour
    return {
        "price": _("free") if free else _price(offer),
        "unit": "" if free else _("/ hour"),
        "sub": _name(offer.package.name(get_language() or ""), offer),
        "simulated": is_simulated(offer.package),
        "rows": _rows(offer),
        "problem": _problem(actor, offer),
        "wait": _wait(offer),
        "alternatives": _alternatives(actor, offer, choices),
        "ahead": None if quote.prepaid_until else pay_ahead(actor, offer.package.pk),
        "top_up_url": _top_up_url(actor) if quote.shortfall_fen or quote.blocked else "",
        "button": _button(offer.kind),
        "blocked": "" if offer.can_start else _button(offer.kind),
        "dock_sub": _dock(offer),
        "foot": _foot(),
        **_start(offer),
    }


def _price(offer: Offer) -> str:
    """`¥7.80`, or `¥7.80–12.00` where it depends on which of several packages it gets."""
    highest = yuan_rate(offer.quote.rate_fen_per_hour).removesuffix("/h")
    lowest = min((each.quote.rate_fen_per_hour for each in offer.choices), default=offer.quote.rate_fen_per_hour)
    if lowest == offer.quote.rate_fen_per_hour:
        return highest
    return f"{yuan_rate(lowest).removesuffix('/h')}–{highest.removeprefix('¥')}"


def _button(kind: Kind) -> str:
    return str(kinds.named(kind).words.start)


def _name(name: str, offer: Offer) -> str:
    if offer.choices:
        models = " / ".join(each.package.gpu_model for each in offer.choices)
        return _("one of %(models)s, whichever has room first") % {"models": models}
    count = offer.package.gpu_count
    name = f"{name} · {count} × GPU" if count > 1 else name
    return f"{offer.members} × {name}" if offer.members > 1 else name


def _foot() -> str:
    return _("Charged from ready on, to the second. Waiting and preparing are free.")


def _rows(offer: Offer) -> list[dict[str, Any]]:
    quote = offer.quote
    short = bool(quote.shortfall_fen or quote.blocked)
    return [
        {
            "label": _("Available balance"),
            "value": yuan(quote.available_fen),
            "tone": "fail" if short else "",
            "strong": short,
        },
        _runs_until(offer, short),
        _held(offer),
        *_member_rows(offer),
        *_price_rows(offer),
        *_discount_rows(offer),
        *_voucher_rows(offer),
        *([_start_row(offer)] if offer.forecast.start_p50 is None else []),
    ]


def _member_rows(offer: Offer) -> list[dict[str, Any]]:
    """What each of several members costs; all prices beside it are of all of them."""
    if offer.members == 1:
        return []
    each = _("%(rate)s each") % {"rate": yuan_rate(offer.quote.rate_fen_per_hour / offer.members)}
    cards = offer.package.gpu_count
    value = f"{offer.members} × {cards} GPU = {offer.members * cards} GPU" if cards else str(offer.members)
    row = {"label": pgettext("of a run", "Members"), "value": value, "sub": each}
    return [row, *fewest_rows(offer), *one_more_rows(offer)]


def _price_rows(offer: Offer) -> list[dict[str, Any]]:
    """The price that is locked, or each of them."""
    locked = kinds.named(offer.kind).words.price_lock
    if not offer.choices:
        version = f"v{offer.quote.price_number}"
        return [{"label": _("Price version"), "value": version, "icon": "lock", "sub": locked}]
    return [
        {
            "label": _("On %(model)s") % {"model": each.package.gpu_model},
            "value": yuan_rate(each.quote.rate_fen_per_hour),
            "icon": "lock",
            "sub": _("price version %(number)s") % {"number": each.quote.price_number},
        }
        for each in offer.choices
    ]


def _discount_rows(offer: Offer) -> list[dict[str, Any]]:
    quote = offer.quote
    if not quote.discount_off or not quote.list_rate_fen_per_hour:
        return []
    listed = _("listed at %(rate)s") % {"rate": yuan_rate(quote.list_rate_fen_per_hour)}
    return [{"label": _("Discount"), "value": per_cent(quote.discount_off), "sub": listed}]


def _voucher_rows(offer: Offer) -> list[dict[str, Any]]:
    """What vouchers stand for, where there are any that fit."""
    quote = offer.quote
    if not quote.vouchers_fen:
        return []
    used = _("%(amount)s of the first hour; used before the balance") % {"amount": yuan(quote.covered_fen)}
    return [{"label": _("Vouchers that fit"), "value": yuan(quote.vouchers_fen), "sub": used}]


def _held(offer: Offer) -> dict[str, Any]:
    """What starting sets aside: nothing where it is paid in advance."""
    quote = offer.quote
    if quote.prepaid_until is not None:
        until = _("nothing is held; until %(when)s") % {"when": moment(quote.prepaid_until)}
        return {"label": _("Prepaid"), "value": _("covered"), "sub": until, "strong": True, "tone": "run"}
    held = _("one hour's worth; what is not used comes back")
    if offer.choices:
        held = _("one hour's worth of the dearest; what is not used comes back")
    return {"label": _("Held at the start"), "value": yuan(quote.hold_fen), "sub": held}


def _runs_until(offer: Offer, short: bool) -> dict[str, Any]:
    quote = offer.quote
    together = yuan_rate(quote.burn_fen_per_hour + quote.rate_fen_per_hour)
    row = {"label": _("Runs until"), "value": _("no end in sight"), "strong": True}
    if short:
        return {**row, "value": _("cannot start"), "tone": "fail"}
    if quote.runs_until is None:
        return row
    return {**row, "value": estimated_moment(quote.runs_until), "sub": _("at %(rate)s in all") % {"rate": together}}


def _start_row(offer: Offer) -> dict[str, Any]:
    """When it would start, where no estimate can be drawn as a range."""
    if offer.forecast.starts_now:
        return {"label": _("Estimated start"), "value": _("now"), "strong": True}
    hopeless = offer.forecast.explanation.get("cause") in HOPELESS
    return {"label": _("Estimated start"), "value": _("never") if hopeless else _("not known")}


def _start(offer: Offer) -> dict[str, Any]:
    outlook = offer.forecast
    if outlook.start_p50 is None:
        return {}
    return {"p50": outlook.start_p50, "p90": outlook.start_p90 or outlook.start_p50, "now": db_now()}


def _wait(offer: Offer) -> dict[str, str] | None:
    """Why it would wait, where that is all that there is to say."""
    report = offer.report
    if report is None or not offer.can_start or report.hopeless:
        return None
    return {"title": report.title, "text": report.text}


def _dock(offer: Offer) -> str:
    until = offer.quote.runs_until
    return _("runs until %(when)s") % {"when": estimated_moment(until)} if until else ""


def _problem(actor: Actor, offer: Offer) -> dict[str, str] | None:
    """What keeps it from starting, and who can change that: money first, then quota, then the machines."""
    quote = offer.quote
    if quote.blocked is not None:
        return {"title": _("The balance is used up: nothing new starts"), "text": _who_tops_up(actor)}
    if quote.shortfall_fen:
        return {
            "title": _("%(amount)s short of a start") % {"amount": yuan(quote.shortfall_fen)},
            "text": _shortfall_text(actor) % {"hold": yuan(quote.hold_fen), "available": yuan(quote.available_fen)},
        }
    if offer.quota is not None:
        return {"title": str(offer.quota.message), "text": str(offer.quota.hint)}
    report = offer.report
    if report is not None and report.hopeless:
        return {"title": report.title, "text": report.text}
    return None


def _shortfall_text(actor: Actor) -> str:
    if actor.may(Permission.BILLING_VIEW):
        return _("A start holds %(hold)s; %(available)s is available. Top up the wallet, or choose a smaller package.")
    return _("A start holds %(hold)s; %(available)s is available. An administrator of your organisation can top up.")


def _who_tops_up(actor: Actor) -> str:
    if actor.may(Permission.BILLING_VIEW):
        return _("Top up the wallet, or choose a smaller package.")
    return _("An administrator of your organisation can top up the wallet.")


def _top_up_url(actor: Actor) -> str:
    return reverse("billing:wallet") if actor.may(Permission.BILLING_VIEW) else ""


def _alternatives(actor: Actor, offer: Offer, choices: Sequence[PackageChoice]) -> list[dict[str, str]]:
    return [
        {
            "name": choice.package.name(get_language() or ""),
            "sub": _against(offer, choice.rate_fen_per_hour or Decimal(0)),
            "field": f"package-{choice.package.pk}",
            "value": str(choice.package.pk),
        }
        for choice in proposals(actor, offer, choices)
    ]


def _against(offer: Offer, rate: Decimal) -> str:
    return f"{yuan_rate(rate)} · {difference_words(rate - offer.quote.rate_fen_per_hour)}"
