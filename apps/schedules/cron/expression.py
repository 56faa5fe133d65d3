"""Read a cron expression of five fields: minute, hour, day of the month, month, day of the week.

Lists, ranges, steps and English names are read by Celery's parser, which is stricter than most crons but for what is
checked here before. With a day of the month and of the week, either will do; where one of them begins with `*`, both
have to fit, as in Debian's cron.
"""

import re
from dataclasses import dataclass

from celery.schedules import ParseException, crontab_parser
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.errors import Invalid

FIELD = "cron"
LONGEST = 100
PART = re.compile(r"(\*|[0-9]{1,2}|[a-z]{3})(-([0-9]{1,2}|[a-z]{3}))?(/[1-9][0-9]?)?\Z")
DAYS = {name: str(number) for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_NUMBERS = {name: str(number) for number, name in enumerate(MONTHS, start=1)}


@dataclass(frozen=True, slots=True)
class _Field:
    label: str | Promise
    least: int
    most: int
    names: dict[str, str]


FIELDS = (
    _Field(pgettext_lazy("cron", "minute"), 0, 59, {}),
    _Field(pgettext_lazy("cron", "hour"), 0, 23, {}),
    _Field(pgettext_lazy("cron", "day of the month"), 1, 31, {}),
    _Field(pgettext_lazy("cron", "month"), 1, 12, MONTH_NUMBERS),
    _Field(pgettext_lazy("cron", "day of the week"), 0, 6, DAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """`days` None: every day of the month; `weekdays` None: every day of the week, from 0 for Sunday. `either`: a day
    fits by one of the two.
    """

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int] | None
    months: frozenset[int]
    weekdays: frozenset[int] | None
    either: bool

    @property
    def every_hour(self) -> bool:
        return len(self.hours) == 24

    def has_day(self, day: int, month: int, weekday: int) -> bool:
        """`weekday` from 0 for Sunday."""
        if month not in self.months:
            return False
        by_month = self.days is None or day in self.days
        by_week = self.weekdays is None or weekday in self.weekdays
        return by_month or by_week if self.either else by_month and by_week


def read_cron(text: str) -> Cron:
    """Raises `Invalid` beside `cron`, naming the field that is wrong."""
    parts = text.lower().split()
    if len(text) > LONGEST or len(parts) != len(FIELDS):
        raise Invalid.field(
            FIELD, _("Give five fields: minute, hour, day of the month, month, day of the week, such as 0 2 * * 1-5.")
        )
    minutes, hours, days, months, weekdays = (_read(part, field) for part, field in zip(parts, FIELDS, strict=True))
    return Cron(
        text=" ".join(parts),
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=None if len(days) == 31 else days,
        months=months,
        weekdays=None if len(weekdays) == 7 else weekdays,
        either=not parts[2].startswith("*") and not parts[4].startswith("*"),
    )


def _read(part: str, field: _Field) -> frozenset[int]:
    pieces = [_numbered(piece, field) for piece in part.split(",")]
    parser = crontab_parser(field.most - field.least + 1, field.least)
    try:
        found = frozenset(number for piece in pieces for number in parser.parse(piece))
    except (ParseException, ValueError) as error:
        raise _wrong(part, field) from error
    return found


def _numbered(piece: str, field: _Field) -> str:
    """With numbers instead of names; `7` is Sunday as `0` is."""
    found = PART.match(piece)
    if found is None or (found[1] == "*" and found[2]):
        raise _wrong(piece, field)
    if found[4] and not found[2] and found[1] != "*":  # 5/15: from 5 on, every 15
        piece = f"{found[1]}-{field.most}{found[4]}"
    head, _slash, step = piece.partition("/")
    ends = [field.names.get(end, end) for end in head.split("-")]
    if field.most == 6:
        ends = _sundays(ends)
    numbers = [int(end) if end.isdigit() else None for end in ends if end != "*"]
    if any(number is None or not field.least <= number <= field.most for number in numbers):
        raise _wrong(piece, field)
    return "-".join(ends) + (f"/{step}" if step else "")


def _sundays(ends: list[str]) -> list[str]:
    """5-7 is Friday to Sunday, which wraps around; 0-7 would be Sunday alone."""
    return ["*"] if ends == ["0", "7"] else ["0" if end == "7" else end for end in ends]


def _wrong(part: str, field: _Field) -> Invalid:
    words = _("“%(part)s” is no %(field)s: give numbers from %(least)s to %(most)s, such as *, */5, 1-5 or 1,15.")
    return Invalid.field(FIELD, words % {"part": part, "field": field.label, "least": field.least, "most": field.most})
