"""When nobody has used something for long enough: one rule for environments and for cards that stand idle."""

from datetime import datetime, timedelta

WARN_BEFORE = timedelta(minutes=5)


def release_at(busy_at: datetime, idle_minutes: int | None) -> datetime | None:
    """When it is released unless used before; None: never automatically."""
    return None if idle_minutes is None else busy_at + timedelta(minutes=idle_minutes)


def is_due(now: datetime, busy_at: datetime, idle_minutes: int | None) -> bool:
    end = release_at(busy_at, idle_minutes)
    return end is not None and now >= end


def is_warning_due(now: datetime, busy_at: datetime, idle_minutes: int | None) -> bool:
    """Whether to warn now: within five minutes of the release, or in the second half of a rule shorter than ten."""
    end = release_at(busy_at, idle_minutes)
    if end is None or idle_minutes is None:
        return False
    return end - warn_before(timedelta(minutes=idle_minutes)) <= now


def warn_before(whole: timedelta) -> timedelta:
    """How long before the end of a time people are told: five minutes, or half of what is shorter than ten."""
    return min(WARN_BEFORE, whole / 2)


def gpu_in_use(gpu_pct: float | None, *, from_pct: float) -> bool | None:
    """Whether cards that are used for this share of the time count as in use; None: nobody can see."""
    return None if gpu_pct is None else gpu_pct >= from_pct
