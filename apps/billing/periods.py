"""The calendar of prepaid time: pure. Periods are half-open and computed in the billing zone from the first start.

Period n begins at the anchor's time of day, n days, months or years after the anchor, clamped to the month's end: from
31 January they begin on 28 (29) February, 31 March, 30 April. Nothing is derived from the period before, so nothing
drifts.
"""

from calendar import monthrange
from datetime import UTC, datetime, timedelta

from apps.billing.choices import Term
from apps.billing.days import BILLING_ZONE

DAY = timedelta(days=1)
MONTHS = {Term.MONTH: 1, Term.YEAR: 12}


def period_start(anchor: datetime, term: Term, number: int) -> datetime:
    """When period `number` (from 0) begins, in UTC. ValueError for a term without periods."""
    if term not in (Term.DAY, *MONTHS):
        raise ValueError(term)
    local = anchor.astimezone(BILLING_ZONE)
    if term is Term.DAY:
        return (local + number * DAY).astimezone(UTC)
    return _months_later(local, number * MONTHS[term]).astimezone(UTC)


def _months_later(local: datetime, months: int) -> datetime:
    year, month = divmod(local.year * 12 + local.month - 1 + months, 12)
    last = monthrange(year, month + 1)[1]
    return local.replace(year=year, month=month + 1, day=min(local.day, last))


def days_between(start: datetime, end: datetime) -> int:
    """Service days of 24 hours; one that has only begun counts."""
    return -((start - end) // DAY)


def day_end(start: datetime, end: datetime, days: int) -> datetime:
    """The moment at which the first `days` service days of [start, end) are over."""
    return min(start + days * DAY, end)


def earned_after(amount_fen: int, start: datetime, end: datetime, days: int) -> int:
    """Fen earned once `days` service days are over: equal whole fen for each day, the tail on the last."""
    total = days_between(start, end)
    return amount_fen if days >= total else amount_fen // total * days


def used_by(amount_fen: int, start: datetime, end: datetime, at: datetime) -> int:
    """Fen of the time used by `at`: to the microsecond, rounded up. Never less than `earned_after` at that moment."""
    if at <= start:
        return 0
    if at >= end:
        return amount_fen
    return -(-amount_fen * ((at - start) // _TICK) // ((end - start) // _TICK))


def price_of_rest(amount_fen: int, start: datetime, end: datetime, at: datetime) -> int:
    """Fen that [at, end) costs where all of [start, end) costs `amount_fen`; rounded up."""
    if at <= start:
        return amount_fen
    return -(-amount_fen * ((end - at) // _TICK) // ((end - start) // _TICK))


_TICK = timedelta(microseconds=1)


def tenth_of(start: datetime, end: datetime) -> timedelta:
    """A tenth of a period: the most that it is renewed ahead of its end, or after it."""
    return (end - start) / 10
