"""`{% load units %}`: units of the price list in words."""

from decimal import Decimal

from django import template

from apps.console.finance.units import words

register = template.Library()

register.filter("unit_words", words.unit_words)
register.filter("per_words", words.per_words)


@register.filter
def plain_number(value: Decimal) -> str:
    """`2.5`, without zeros at the end."""
    return f"{value.normalize():f}"
