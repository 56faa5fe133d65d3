"""A cron expression in words, in the reader's language."""

from collections.abc import Iterable

from django.utils.dates import MONTHS, WEEKDAYS
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from apps.schedules.cron.expression import Cron

MOST_TIMES = 8
MONDAY_TO_FRIDAY = frozenset({1, 2, 3, 4, 5})


def cron_words(cron: Cron) -> str:
    """Such as “Monday to Friday: at 02:00”."""
    days, months = _days(cron), _months(cron)
    if months:
        days = _("%(days)s in %(months)s") % {"days": days, "months": months}
    return _("%(days)s: %(times)s") % {"days": days, "times": _times(cron)}


def _days(cron: Cron) -> str:
    if (cron.days is None and cron.weekdays is None) or (cron.either and None in (cron.days, cron.weekdays)):
        return _("Every day")
    if cron.days is None:
        return _weekdays(cron.weekdays or ())
    if cron.weekdays is None:
        return _("On day %(days)s of the month") % {"days": _list(cron.days)}
    both = {"days": _list(cron.days), "weekdays": _weekdays(cron.weekdays)}
    if cron.either:
        return _("On day %(days)s of the month, and on each %(weekdays)s") % both
    return _("On day %(days)s of the month, if it is a %(weekdays)s") % both


def _weekdays(weekdays: Iterable[int]) -> str:
    chosen = frozenset(weekdays)
    if chosen == MONDAY_TO_FRIDAY:
        return _("Monday to Friday")
    # Django counts from Monday on, cron from Sunday.
    names = [str(WEEKDAYS[(number - 1) % 7]) for number in sorted(chosen, key=lambda number: (number - 1) % 7)]
    return pgettext("between items of a list", ", ").join(names)


def _months(cron: Cron) -> str:
    if len(cron.months) == 12:
        return ""
    return pgettext("between items of a list", ", ").join(str(MONTHS[number]) for number in sorted(cron.months))


def _times(cron: Cron) -> str:
    if len(cron.minutes) * len(cron.hours) <= MOST_TIMES:
        times = [f"{hour:02}:{minute:02}" for hour in cron.hours for minute in cron.minutes]
        return _("at %(times)s") % {"times": pgettext("between items of a list", ", ").join(times)}
    step = _step(cron.minutes)
    if cron.every_hour:
        return _every(step) if step else _("every hour at minute %(minutes)s") % {"minutes": _list(cron.minutes)}
    if step:
        return _("%(every)s in the hours %(hours)s") % {"every": _every(step), "hours": _list(cron.hours)}
    named = {"minutes": _list(cron.minutes), "hours": _list(cron.hours)}
    return _("at minute %(minutes)s of the hours %(hours)s") % named


def _step(minutes: tuple[int, ...]) -> int:
    """Between minutes that fill the hour evenly from its beginning; 0 for others."""
    step = 60 // len(minutes)
    return step if len(minutes) > 1 and minutes == tuple(range(0, 60, step)) else 0


def _every(step: int) -> str:
    return ngettext("every minute", "every %(count)s minutes", step) % {"count": step}


def _list(numbers: Iterable[int]) -> str:
    return pgettext("between items of a list", ", ").join(str(number) for number in sorted(numbers))
