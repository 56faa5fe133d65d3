"""The rules with a number in them. An installation may set each in its settings as BILLING_<name>."""

from datetime import timedelta
from typing import Any

from django.conf import settings


def _setting(name: str, default: Any) -> Any:
    return getattr(settings, f"BILLING_{name}", default)


# Running work is rated about this often; ended work is rated at once.
RATE_EVERY: timedelta = timedelta(seconds=_setting("RATE_SECONDS", 60))
# A price that was quoted may still be used for this long after it has been replaced.
QUOTE_VALID: timedelta = timedelta(minutes=_setting("QUOTE_MINUTES", 10))
# Low: less than this many hours at the present burn, or less than so many fen while something runs.
LOW_HOURS: int = _setting("LOW_HOURS", 24)
LOW_FEN: int = _setting("LOW_FEN", 0)
# Low ends after so long without being low, and is not declared again for so long after the return to normal unless the
# funds are below half of what is low: otherwise work that comes and goes would send a notice each time.
LOW_CALM: timedelta = timedelta(minutes=_setting("LOW_CALM_MINUTES", 15))
# How long work goes on after the money has run out.
GRACE: timedelta = timedelta(minutes=_setting("GRACE_MINUTES", 10))
# How long stored data is kept after compute was stopped, in days, and how many days before its release it is announced.
RETENTION_DAYS: int = _setting("RETENTION_DAYS", 30)
RELEASE_NOTICES: tuple[int, ...] = (7, 3, 1)
# How long before a spending cap is reached at the present price the work is asked to save and stop.
CAP_AHEAD: timedelta = timedelta(seconds=_setting("CAP_AHEAD_SECONDS", 120))
# A cap lasts for at least this long, so that there is time to start, save and stop.
CAP_LEAST: timedelta = timedelta(minutes=_setting("CAP_LEAST_MINUTES", 10))
# One offline top-up: at most a million yuan, so that a slip of the keyboard stays small.
TOP_UP_MAX_FEN: int = _setting("TOP_UP_MAX_FEN", 100_000_000)
# How long after its end the rest of a voucher goes back: usage within its time has been charged by then.
VOUCHER_SETTLES: timedelta = timedelta(hours=_setting("VOUCHER_SETTLES_HOURS", 1))
# A prepaid order may still be renewed for so long after its end, but for at most a tenth of its last period; running
# time stays covered meanwhile, and the renewal begins at the old end.
PREPAID_GRACE: timedelta = timedelta(hours=_setting("PREPAID_GRACE_HOURS", 24))
# How long before the end automatic renewal is tried, at most a tenth of the period.
PREPAID_RENEW_AHEAD: timedelta = timedelta(hours=_setting("PREPAID_RENEW_AHEAD_HOURS", 24))
# A running task that was not proven to run for so long has left its prepaid place, which is the next one's. Until then
# what comes after it in the same order is not charged: it might not have to pay.
SILENT_LEAVES: timedelta = timedelta(minutes=_setting("SILENT_MINUTES", 60))
# Days before the end at which people are notified.
PREPAID_NOTICE_DAYS: tuple[int, ...] = tuple(_setting("PREPAID_NOTICE_DAYS", (7, 3, 1)))
