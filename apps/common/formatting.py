"""Numbers as people read them: durations, times, sizes, shares. Unknown is a dash, never zero."""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

UNKNOWN = "—"
# After these a Chinese sentence goes on without a space.
_FULL_WIDTH = ("。", "！", "？", "；", "：", "，")

MINUTE, HOUR, DAY = 60, 3600, 86400
ESTIMATED_TO_THE_MINUTE = timedelta(days=2)
_SIZE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def duration(seconds: float | None) -> str:
    """The two largest units: `0.4 s`, `38 s`, `4 min 18 s`, `3 h 12 min`, `6 d 5 h`."""
    if seconds is None:
        return UNKNOWN
    if 0 < seconds < 1:
        return _("%(s)s s") % {"s": f"{seconds:.1f}"}
    whole = max(0, round(seconds))
    if whole < MINUTE:
        return _("%(s)s s") % {"s": whole}
    if whole < HOUR:
        return _minutes(whole)
    return _hours(whole) if whole < DAY else _days(whole)


def _minutes(whole: int) -> str:
    minutes, seconds = divmod(whole, MINUTE)
    if not seconds:
        return _("%(m)s min") % {"m": minutes}
    return _("%(m)s min %(s)s s") % {"m": minutes, "s": f"{seconds:02d}"}


def _hours(whole: int) -> str:
    hours, minutes = divmod(whole // MINUTE, 60)
    if not minutes:
        return _("%(h)s h") % {"h": hours}
    return _("%(h)s h %(m)s min") % {"h": hours, "m": minutes}


def _days(whole: int) -> str:
    days, hours = divmod(whole // HOUR, 24)
    if not hours:
        return _("%(d)s d") % {"d": days}
    return _("%(d)s d %(h)s h") % {"d": days, "h": hours}


def elapsed(seconds: float | None) -> str:
    """Like `duration`, but without seconds after the first minute, for a running clock."""
    if seconds is None or not MINUTE <= seconds < HOUR:
        return duration(seconds)
    return _("%(m)s min") % {"m": int(seconds // MINUTE)}


def clock(seconds: float | None) -> str:
    """`3:12:00`, for a duration that is multiplied by a rate beside it."""
    if seconds is None:
        return UNKNOWN
    minutes, rest = divmod(max(0, int(seconds)), MINUTE)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


def sentences(*parts: object) -> str:
    """Sentences one after the other, as each language has them; empty ones are left out."""
    told = ""
    for part in map(str, parts):
        told += f"{' ' if told and part and not told.endswith(_FULL_WIDTH) else ''}{part}"
    return told


def moment(when: datetime | None, *, seconds: bool = False) -> str:
    """Local `14:32` today, `11-22 03:10` this year, `2025-11-22 03:10` otherwise."""
    if when is None:
        return UNKNOWN
    local, today = timezone.localtime(when), timezone.localtime()
    time = local.strftime("%H:%M:%S" if seconds else "%H:%M")
    if local.date() == today.date():
        return time
    return local.strftime("%m-%d " if local.year == today.year else "%Y-%m-%d ") + time


def estimated_moment(when: datetime | None) -> str:
    """Of an estimate: the moment within two days, and the day alone from then on, since nobody knows the minute."""
    if when is None or abs(when - timezone.now()) < ESTIMATED_TO_THE_MINUTE:
        return moment(when)
    local = timezone.localtime(when)
    return local.strftime("%m-%d" if local.year == timezone.localtime().year else "%Y-%m-%d")


def exact_moment(when: datetime) -> str:
    """Local `2026-11-20 14:32:06 CST`, for a tooltip."""
    return timezone.localtime(when).strftime("%Y-%m-%d %H:%M:%S %Z")


def file_size(count: int | None) -> str:
    """Bytes in decimal units: `0 B`, `812 kB`, `31.6 MB`."""
    if count is None:
        return UNKNOWN
    value, unit = float(count), 0
    while value >= 1000 and unit < len(_SIZE_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{_short(value) if unit else int(value)} {_SIZE_UNITS[unit]}"


def memory(mib: float | None) -> str:
    """Host memory from MiB: `512 MiB`, `1.5 GiB`, `240 GiB`."""
    if mib is None:
        return UNKNOWN
    return f"{_short(mib / 1024)} GiB" if mib >= 1024 else f"{round(mib)} MiB"


def gpu_memory(mib: float | None) -> str:
    """GPU memory from MiB in GB as sold (a card of 81920 MiB is sold as 80 GB)."""
    return UNKNOWN if mib is None else f"{_short(mib / 1024)} GB"


def cores(milli: float | None) -> str:
    """CPU from thousandths of a core: `0.5`, `14.2`, `32`."""
    return UNKNOWN if milli is None else _short(milli / 1000)


def percent(share: float | None) -> str:
    """`93%` for 93; one decimal below ten."""
    return UNKNOWN if share is None else f"{_short(share) if share < 10 else round(share)}%"


def _short(value: float) -> str:
    """One decimal where it says something: 61.4, 240, 2."""
    return f"{value:.1f}".removesuffix(".0") if value < 1000 else f"{value:,.0f}"
