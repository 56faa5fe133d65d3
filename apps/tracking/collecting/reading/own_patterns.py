"""Patterns of a person, in place of the rules of the house: regular expressions with named groups.

`(?P<name>…)` and `(?P<value>…)` as Katib's collectors have them, or one group for each metric, called as the metric;
`(?P<step>…)` and `(?P<epoch>…)` say where. Python's engine can be driven to take exponential time, and a limit of
length does not prevent that. So a pattern is only ever matched in a process of its own with a limit of time
(`pattern_process`); this module is what that process runs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apps.tracking.collecting.reading.numbers import to_float, to_step

MOST = 10
LONGEST = 300
LONGEST_LINE = 2000
MOST_IN_LINE = 50
NAME, VALUE, PLACES = "name", "value", ("step", "epoch")

Found = list[tuple[str, float, int | None]]


@dataclass(frozen=True, slots=True)
class BadPattern(ValueError):
    """`code`: what is wrong; `detail`: in the engine's own words; `number`: of the pattern, from 0 on."""

    code: str
    number: int = 0
    detail: str = ""


def compiled(patterns: Sequence[str]) -> list[re.Pattern[str]]:
    """Raises `BadPattern`: "many", "long", "syntax", "groups"."""
    if len(patterns) > MOST:
        raise BadPattern("many")
    return [_compiled(pattern, number) for number, pattern in enumerate(patterns)]


def _compiled(text: str, number: int) -> re.Pattern[str]:
    if len(text) > LONGEST:
        raise BadPattern("long", number)
    try:
        pattern = re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern("syntax", number, str(error)) from error
    names = set(pattern.groupindex)
    if not names - set(PLACES) or (VALUE in names) != (NAME in names):
        raise BadPattern("groups", number)
    return pattern


def found_in(patterns: Sequence[re.Pattern[str]], line: str) -> Found:
    """What the patterns find in one line, in order."""
    found: Found = []
    for pattern in patterns:
        for match in pattern.finditer(line[:LONGEST_LINE]):
            found += _values(match)
            if len(found) >= MOST_IN_LINE:
                return found[:MOST_IN_LINE]
    return found


def _values(match: re.Match[str]) -> Found:
    groups = match.groupdict()
    places = (to_float(groups[place] or "") for place in PLACES if place in groups)
    step = next((to_step(place) for place in places if place is not None), None)
    if NAME in groups:
        pairs = [(groups[NAME], groups[VALUE])]
    else:
        pairs = [(name, text) for name, text in groups.items() if name not in PLACES]
    values = [(name, to_float((text or "").rstrip("%"))) for name, text in pairs if name and name.isprintable()]
    return [(name.strip()[:250], value, step) for name, value in values if value is not None and name.strip()]
