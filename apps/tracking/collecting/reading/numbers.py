"""Numbers as programs print them, told from dates, addresses, versions and measurements with a unit."""

import re

UNITS = (
    r"(?:[mµun]?s|secs?|seconds?|mins?|minutes?|hours?|hrs?|h|m|days?|d|[kKMGTP]i?[bB]?|bytes?|B|"
    r"[kM]?Hz|MHz|GHz|W|°C|°|C|x|px|[\w]{1,10}/(?:s|sec|second|it|step|epoch|h|min|day|hour|iter|batch|gpu))"
)
PLAIN = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
SPECIAL = r"(?:nan|NaN|NAN|[iI]nf(?:inity)?|INF)"
VALUE = rf"[+-]?(?:{PLAIN}|{SPECIAL})"
# What may not follow a number: more of a word, a date, a path or a version; a decimal comma; a unit.
END = rf"(?![\w:/\\@-]|\.[\w]|,\d|[ \t]?{UNITS}(?![\w/]))"
COUNT = r"\d{1,12}"

_VALUE = re.compile(rf"{VALUE}\Z")
_LARGEST_INT = 2**53


def to_float(text: str) -> float | None:
    """The value of a whole text; None for what is no number."""
    text = text.strip()
    if len(text) > 40 or not _VALUE.match(text):
        return None
    return float(text.replace(",", ""))


def to_step(value: object) -> int | None:
    """A step of a file: a whole number that is not negative and that a float holds exactly; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value != value or not 0 <= value <= _LARGEST_INT or int(value) != value:
        return None
    return int(value)


def is_written_as_float(text: str) -> bool:
    return not text.lstrip("+-").replace(",", "").isdigit()
