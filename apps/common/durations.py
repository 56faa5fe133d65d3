"""Durations as people say them: `90 min`, `2 h`, `1 d 6 h`, `1.5 小时`. A number needs its unit."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

DAY_S, HOUR_S, MINUTE_S = 86_400, 3_600, 60
_UNITS = {
    **dict.fromkeys(("d", "day", "days", "天", "日"), DAY_S),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "小时", "时", "个小时"), HOUR_S),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "分", "分钟"), MINUTE_S),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒", "秒钟"), 1),
}
_PART = r"(\d{1,9}(?:\.\d{1,3})?)\s*([a-z]+|[天日个小时分钟秒]+)"
_WHOLE = re.compile(rf"\s*{_PART}(?:\s*,?\s*{_PART})*\s*", re.ASCII)
_PARTS = re.compile(_PART, re.ASCII)
LONGEST = timedelta(days=366)


def parse_duration(text: str) -> timedelta | None:
    """Whole seconds, rounded; None for what is no duration: a unit is missing, unknown, repeated or out of order."""
    told = text.strip().lower()
    if not _WHOLE.fullmatch(told):
        return None
    seconds, last = Decimal(0), DAY_S + 1
    for number, unit in _PARTS.findall(told):
        size = _UNITS.get(unit)
        if size is None or size >= last:
            return None
        seconds, last = seconds + Decimal(number) * size, size
    return timedelta(seconds=round(seconds))


def duration_text(seconds: int | None) -> str:
    """As it is typed, exactly: `1 d 6 h`, `90 s`; empty for None. The inverse of `parse_duration`."""
    if seconds is None:
        return ""
    left, parts = seconds, []
    for unit, size in (("d", DAY_S), ("h", HOUR_S), ("min", MINUTE_S), ("s", 1)):
        count, left = divmod(left, size)
        parts += [f"{count} {unit}"] if count else []
    return " ".join(parts) or "0 s"


class DurationField(forms.CharField):
    """A duration as people say it, cleaned to whole seconds; None where nothing was typed."""

    default_error_messages = {
        "duration": _("Give a time with its units, as in 90 min, 2 h or 1 d 6 h."),
        "short": _("Give at least one minute."),
        "long": _("Give at most 366 days."),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": 60, "required": False, **kwargs})

    def clean(self, value: Any) -> int | None:
        text = super().clean(value)
        if not text:
            return None
        found = parse_duration(text)
        if found is None:
            raise ValidationError(self.error_messages["duration"], code="duration")
        if found < timedelta(minutes=1):
            raise ValidationError(self.error_messages["short"], code="short")
        if found > LONGEST:
            raise ValidationError(self.error_messages["long"], code="long")
        return int(found.total_seconds())
