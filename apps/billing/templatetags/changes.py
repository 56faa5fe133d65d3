"""How pages write a discount, and sums that may go either way."""

from decimal import Decimal

from django import template

from apps.common.discounts import discount_words, plain, zhe
from apps.common.money import yuan

register = template.Library()


@register.filter
def discount(off: Decimal) -> str:
    """`15 % off`, `8.5 折`."""
    return discount_words(off)


@register.filter
def signed_yuan(fen: int | Decimal) -> str:
    """`+¥12.00`, `-¥3.40`, `¥0.00`."""
    whole = round(fen)
    return f"+{yuan(whole)}" if whole > 0 else yuan(whole)


@register.filter
def as_zhe(off: Decimal) -> str:
    """`8.5` for 0.15."""
    return zhe(off)


@register.filter
def pay_percent(off: Decimal) -> str:
    """`85` for 0.15."""
    return plain((1 - off) * 100)


@register.filter
def off_percent(off: Decimal) -> str:
    """`15` for 0.15."""
    return plain(off * 100)
