"""Curves as SVG that needs neither script nor style sheet, so that it is the same in a page and in a file. Pure.

Lines are told apart by dashes and strength, never by hue, and all are drawn in the colour of the text around.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

Point = tuple[float, float]
WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 10, 26
DASHES = ("", "7 3", "2 3", "9 3 2 3")
STRENGTHS = (1.0, 0.62, 0.36)
TICKS = 5


@dataclass(frozen=True, slots=True)
class Line:
    """Points from left to right; `text` says whose."""

    text: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """How the line of a place among others is drawn."""

    dash: str
    strength: float

    @classmethod
    def of(cls, place: int) -> "Look":
        return cls(DASHES[place % len(DASHES)], STRENGTHS[place // len(DASHES) % len(STRENGTHS)])


@dataclass(frozen=True, slots=True)
class Scale:
    low: float
    high: float
    is_log: bool = False

    @classmethod
    def over(cls, values: Sequence[float], *, is_log: bool = False) -> "Scale":
        """As wide as the values, or around the only one."""
        found = [math.log10(each) for each in values] if is_log else values
        low, high = min(found), max(found)
        if high - low <= 1e-12 * max(abs(low), abs(high)):
            room = 0.5 if is_log else abs(low) / 2 or 0.5
            low, high = low - room, high + room
        return cls(low, high, is_log)

    def at(self, value: float) -> float:
        """From 0 to 1."""
        return ((math.log10(value) if self.is_log else value) - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Round numbers: steps of 1, 2 or 5 times a power of ten; on a logarithmic scale powers of ten."""
        if self.is_log:
            every = max(1, math.ceil((self.high - self.low) / TICKS))
            powers = range(math.ceil(self.low), math.floor(self.high) + 1, every)
            return [10.0**each for each in powers] or [10**self.low, 10**self.high]
        rough = (self.high - self.low) / TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough)
        first = math.ceil(self.low / step - 1e-9)
        count = math.floor(self.high / step + 1e-9) - first + 1
        return [(first + each) * step for each in range(count)]


def svg(lines: Sequence[Line], label: str, *, is_log: bool = False) -> SafeString:
    """`label`: what it shows, for who does not see it. Values that are not finite, or on a log scale not positive, are
    left out, and so are lines of which nothing is left."""
    shown = [(place, each.text, _drawable(each.points, is_log)) for place, each in enumerate(lines)]
    points = [point for _place, _text, found in shown for point in found]
    if not points:
        return SafeString("")
    across, up = Scale.over([x for x, _y in points]), Scale.over([y for _x, y in points], is_log=is_log)
    drawn = format_html_join("", "{}", ((_line(place, text, found, across, up),) for place, text, found in shown))
    return format_html(
        '<svg viewBox="0 0 {w} {h}" width="100%" role="img" aria-label="{label}" fill="currentColor" font-size="11" '
        'font-family="inherit"><g>{frame}</g><g fill="none" stroke="currentColor" stroke-width="1.6" '
        'stroke-linejoin="round">{lines}</g></svg>',
        w=WIDTH,
        h=HEIGHT,
        label=label,
        frame=format_html_join("", "{}", ((each,) for each in _frame(across, up))),
        lines=drawn,
    )


def key(place: int) -> SafeString:
    """A short piece of the line, for a legend."""
    look = Look.of(place)
    return format_html(
        '<svg width="28" height="8" aria-hidden="true"><line x1="1" x2="27" y1="4" y2="4" stroke="currentColor" '
        'stroke-width="1.8" stroke-dasharray="{}" stroke-opacity="{}"/></svg>',
        look.dash,
        look.strength,
    )


def _drawable(points: Sequence[Point], is_log: bool) -> list[Point]:
    return [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y) and (y > 0 or not is_log)]


def _x(across: Scale, value: float) -> float:
    return round(LEFT + across.at(value) * (WIDTH - LEFT - RIGHT), 1)


def _y(up: Scale, value: float) -> float:
    return round(TOP + (1 - up.at(value)) * (HEIGHT - TOP - BOTTOM), 1)


def _frame(across: Scale, up: Scale) -> Iterator[SafeString]:
    for tick in up.ticks():
        y = _y(up, tick)
        yield format_html(
            '<line x1="{}" x2="{}" y1="{}" y2="{}" stroke="currentColor" stroke-opacity="0.15"/>'
            '<text x="{}" y="{}" text-anchor="end" fill-opacity="0.7">{}</text>',
            *(LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, short(tick)),
        )
    for tick in across.ticks():
        yield format_html(
            '<text x="{}" y="{}" text-anchor="middle" fill-opacity="0.7">{}</text>',
            *(_x(across, tick), HEIGHT - 8, short(tick)),
        )


def _line(place: int, text: str, points: Sequence[Point], across: Scale, up: Scale) -> SafeString:
    if not points:
        return SafeString("")
    look = Look.of(place)
    placed = " ".join(f"{_x(across, x)},{_y(up, y)}" for x, y in points)
    if len(points) == 1:  # one point makes no line
        x, y = placed.split(",")
        return format_html('<circle cx="{}" cy="{}" r="2.5"><title>{}</title></circle>', x, y, text)
    return format_html(
        '<polyline points="{}" stroke-dasharray="{}" stroke-opacity="{}"><title>{}</title></polyline>',
        *(placed, look.dash, look.strength, text),
    )


def short(value: float) -> str:
    """Of a tick: what floating point has added is rounded away."""
    return f"{value:.5g}"
