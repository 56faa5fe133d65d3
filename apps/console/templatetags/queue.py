"""`{% load queue %}`: figures and words of the queue's pages."""

from datetime import timedelta
from typing import Any

from django import template
from django.core.paginator import Page
from django.http import QueryDict

import scheduler
from apps.common.formatting import UNKNOWN, elapsed
from apps.console.hardware.accelerators.selectors import CardView
from apps.console.queue.words import MODES, cards_figure, cause_words, request_words

register = template.Library()

register.filter("cards", cards_figure)
register.filter("request_words", request_words)
register.filter("cause_words", cause_words)


@register.filter
def share_of(part: float, whole: float) -> str:
    """`part` in per cent of `whole`, as a width: at most 100."""
    return f"{min(100.0, 100 * part / whole):.2f}" if whole else "0"


@register.filter
def waited(span: timedelta | float | None) -> str:
    """A time span without seconds; a dash where there was none."""
    if span is None:
        return UNKNOWN
    return elapsed(span.total_seconds() if isinstance(span, timedelta) else span)


@register.filter
def mode_words(mode: scheduler.Mode) -> str:
    return str(MODES.get(mode, mode))


@register.filter
def rate_words(share: float | None) -> str:
    """A share of 1 in per cent: `64.1%`."""
    return UNKNOWN if share is None else f"{100 * share:.1f}%"


@register.filter
def shown_pages(page: Page[object]) -> list[int | str]:
    """Numbers around the current page, the first and the last, with an ellipsis for what is left out."""
    return list(page.paginator.get_elided_page_range(page.number, on_each_side=1, on_ends=1))


@register.inclusion_tag("console/queue/page_link.html", takes_context=True)
def page_link(context: dict[str, Any], number: int, key: str, id: str, rel: str = "") -> dict[str, Any]:
    """A link to a page of one part; the other parts stay where they are."""
    asked: QueryDict = context["request"].GET.copy()
    asked[key] = str(number)
    return {"number": number, "key": key, "id": id, "rel": rel, "url": f"?{asked.urlencode()}"}


@register.filter
def among(view: CardView, lost: set[str]) -> bool:
    """Whether the card's id is one of these."""
    return str(view.card.pk) in lost
