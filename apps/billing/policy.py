"""The rules with a number in them. An installation may set each in its settings as BILLING_<name>."""

from datetime import timedelta
from typing import Any

from django.conf import settings


def _setting(name: str, default: Any) -> Any:
    return getattr(settings, f"BILLING_{name}", default)


# Running work is rated about this often; what has ended, at once.
RATE_EVERY: timedelta = timedelta(seconds=_setting("RATE_SECONDS", 60))
# A price that was quoted may still be used for this long after it has been replaced.
QUOTE_VALID: timedelta = timedelta(minutes=_setting("QUOTE_MINUTES", 10))
# Low: less than this many hours at the present burn, or less than so many fen while something runs.
LOW_HOURS: int = _setting("LOW_HOURS", 24)
LOW_FEN: int = _setting("LOW_FEN", 0)
# How long work goes on after the money has run out.
GRACE: timedelta = timedelta(minutes=_setting("GRACE_MINUTES", 10))
# One offline top-up: at most a million yuan, so that a slip of the keyboard stays small.
TOP_UP_MAX_FEN: int = _setting("TOP_UP_MAX_FEN", 100_000_000)
