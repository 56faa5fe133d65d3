"""Numbers of searches on tables as people read them."""

from django import template

from apps.common.formatting import percent
from apps.common.plots import shown

register = template.Library()


@register.filter
def metric(value: float | None) -> str:
    """Five digits, as the charts write them."""
    return shown(value)


@register.filter
def share(value: float) -> str:
    return percent(100 * value)
