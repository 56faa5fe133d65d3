"""Discounts as people say them: "15 % off" in English, "8.5 折" (pay 85 per cent) in Chinese."""

from decimal import Decimal

from django.utils.translation import get_language
from django.utils.translation import gettext as _


def plain(number: Decimal) -> str:
    """`8.5`, `20`: no trailing zeros and no exponent."""
    return f"{number.normalize():f}"


def zhe(off: Decimal) -> str:
    """`8.5` for 0.15: tenths that are left to pay."""
    return plain((1 - off) * 10)


def says_zhe() -> bool:
    """Whether the reader's language counts what is left to pay."""
    return (get_language() or "").startswith("zh")


def discount_words(off: Decimal) -> str:
    """A share of 1 that is taken off, in the reader's way of saying it."""
    if off == 0:
        return _("no discount")
    if off == 1:
        return _("free of charge")
    return f"{zhe(off)} 折" if says_zhe() else _("%(percent)s %% off") % {"percent": plain(off * 100)}
