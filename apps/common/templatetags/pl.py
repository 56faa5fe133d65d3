"""`{% load pl %}`: states, tags, times, meters and fields. Filters that only format are in `pl_filters`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django import template
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from apps.common import folding, markup
from apps.common.badges import badge
from apps.common.formatting import UNKNOWN, clock, elapsed, estimated_moment, exact_moment, moment
from apps.common.money import yuan
from apps.common.templatetags.pl_field import field_context, filter_context
from apps.common.templatetags.pl_filters import FILTERS

register = template.Library()
for _name, _function in FILTERS.items():
    register.filter(_name, _function)
register.inclusion_tag("components/field.html", name="field")(field_context)
register.inclusion_tag("components/filter_field.html", name="filter_field")(filter_context)
register.simple_tag(folding.constant(markup.state))
register.simple_tag(folding.constant(markup.tag))
register.simple_tag(folding.constant(markup.simulated), name="sim")
register.simple_tag(markup.menu)

Text = str | Promise


@register.simple_tag
@folding.constant
@lru_cache(1024)
def icon(name: str, tone: str = "", *, classes: str = "") -> SafeString:
    """An icon that says nothing by itself; with a tone it stands before a sentence in that state's colour."""
    tint = f"pl-ico is-{tone}" if tone else ""
    return format_html(
        '<i class="{}" aria-hidden="true"></i>', " ".join(filter(None, [f"ti ti-{name}", tint, classes]))
    )


@register.simple_tag
def when(at: datetime | None, *, seconds: bool = False, estimated: bool = False) -> str:
    """`<time>` with the short local moment and the exact one as its title; of an estimate no more than is known."""
    if at is None:
        return UNKNOWN
    if estimated:
        return format_html('<time datetime="{}">{}</time>', at.isoformat(), estimated_moment(at))
    exact = exact_moment(at)
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), exact, moment(at, seconds=seconds))


@register.simple_tag
def since(start: datetime | timedelta | float | None, *, ticking: bool = True, style: str = "") -> str:
    """Time since a moment, or a number of seconds so far, that goes on counting in the browser.

    `style="clock"` gives `3:12:00`; `ticking=False` is a duration that has ended.
    """
    if start is None:
        return UNKNOWN
    passed = _seconds(start)
    words = clock(passed) if style == "clock" else elapsed(passed)
    if not ticking:
        return format_html("<span>{}</span>", words)
    return format_html('<span data-elapsed="{}" data-format="{}">{}</span>', f"{passed:.0f}", style, words)


def _seconds(start: datetime | timedelta | float) -> float:
    if isinstance(start, datetime):
        return max(0.0, (timezone.now() - start).total_seconds())
    return start.total_seconds() if isinstance(start, timedelta) else float(start)


@register.simple_tag
def ticking_cost(fen: int | None, fen_per_hour: object = 0) -> str:
    """A cost that goes on at its rate between two answers of the server; the server's number wins."""
    if fen is None:
        return UNKNOWN
    if not fen_per_hour:
        return yuan(fen)
    return format_html('<span data-cost-fen="{}" data-rate-fen="{}">{}</span>', fen, str(fen_per_hour), yuan(fen))


@register.inclusion_tag("components/meter.html")
def meter(value: float | None, limit: float, *, label: Text = "", tone: str = "", tall: bool = False) -> dict[str, Any]:
    """A thin bar of value in limit (same unit). Neutral unless a tone says otherwise; nothing for an unknown value."""
    share = 0.0 if value is None or not limit else min(100.0, max(0.0, 100.0 * float(value) / float(limit)))
    return {
        "share": f"{share:.1f}",
        "whole": round(share),
        "label": label,
        "tone": tone,
        "tall": tall,
        "known": value is not None,
    }


@register.inclusion_tag("components/spark.html")
def spark(values: Sequence[float | None], *, limit: float = 0, label: Text = "", tone: str = "") -> dict[str, Any]:
    """A trend of equally spaced values; `limit` is the top of the scale (the highest value without one)."""
    known = [0.0 if value is None else float(value) for value in values]
    top = limit or max(known, default=0.0) or 1.0
    step = 72 / max(1, len(known) - 1)
    points = " ".join(f"{k * step:.1f},{21 - 20 * min(1.0, v / top):.1f}" for k, v in enumerate(known))
    return {"points": points, "label": label, "tone": tone}


@dataclass(frozen=True, slots=True)
class Span:
    """Where p50 and p90 lie on an axis from now to the horizon, in per cent of its length."""

    left: float
    width: float


@register.inclusion_tag("components/range.html")
def start_range(p50: datetime, p90: datetime, now: datetime | None = None) -> dict[str, Any]:
    """p50–p90 of an estimated start on an axis from now; the axis ends a quarter after p90."""
    begin = now or timezone.now()
    horizon = max((p90 - begin) * 1.25, timedelta(minutes=10))
    left, right = (min(100.0, max(0.0, 100 * ((at - begin) / horizon))) for at in (p50, p90))
    span = Span(round(left, 1), round(max(2.0, right - left), 1))
    return {"span": span, "now": begin, "p50": p50, "p90": p90, "end": begin + horizon, "apart": right - left >= 18}


@register.simple_block_tag
@folding.constant
def note(content: str, tone: str = "", title: Text = "", *, icon: str = "", alert: bool = False) -> str:
    """A sentence that matters, tinted by its state: `{% note "fail" title=… %}body{% endnote %}`."""
    name = icon or (badge(tone).icon if tone else "info-circle")
    heading = format_html('<p class="pl-strong">{}</p>', title) if title else ""
    return format_html(
        '<div class="pl-note {}"{}><i class="ti ti-{} pl-ico" aria-hidden="true"></i><div>{}{}</div></div>',
        f"is-{tone}" if tone else "",
        mark_safe(' role="alert"') if alert else "",
        name,
        heading,
        content,
    )
