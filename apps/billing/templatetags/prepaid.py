"""`{% load prepaid %}`: prepaid orders and prices by the period in words."""

from django import template
from django.utils.translation import get_language

from apps.billing.models import PrepaidOrder, TermPrice
from apps.billing.prepaid.forms import term_price_words
from apps.billing.prepaid.seats import PayAhead

register = template.Library()
register.filter("term_price", term_price_words)


@register.filter
def prepaid_name(order: PrepaidOrder) -> str:
    """`2 × Small GPU`."""
    name = order.package.name(get_language() or "")
    return f"{order.quantity} × {name}" if order.quantity != 1 else name


@register.filter
def offer_name(offer: TermPrice) -> str:
    """The package's name."""
    return offer.package.name(get_language() or "")


@register.filter
def ahead_words(found: PayAhead) -> str:
    """`¥255.00 a month`: what the organisation would pay."""
    return term_price_words(found.offer, found.fen)
