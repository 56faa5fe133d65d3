"""Billing months: half-open spans between midnights of the billing zone. Pure."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from apps.billing.days import BILLING_ZONE, midnight

# How long after its end a month is closed for good: by then everything written in it has been committed.
COMPLETE_AFTER = timedelta(days=1)
_PERIOD = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True, order=True)
class Month:
    """`period` is YYYY-MM."""

    period: str

    @classmethod
    def parse(cls, period: str) -> "Month":
        """ValueError for anything but YYYY-MM."""
        if _PERIOD.fullmatch(period) is None:
            raise ValueError(period)
        return cls(period)

    @classmethod
    def at(cls, moment: datetime) -> "Month":
        return cls(f"{moment.astimezone(BILLING_ZONE):%Y-%m}")

    @property
    def first(self) -> date:
        return date.fromisoformat(f"{self.period}-01")

    @property
    def last(self) -> date:
        return self.next().first - timedelta(days=1)

    @property
    def start(self) -> datetime:
        return midnight(self.first)

    @property
    def end(self) -> datetime:
        """The first moment after it."""
        return self.next().start

    @property
    def complete_at(self) -> datetime:
        """T+1: when its figures are final."""
        return self.end + COMPLETE_AFTER

    def next(self) -> "Month":
        return Month(f"{self.first + timedelta(days=31):%Y-%m}")

    def former(self) -> "Month":
        return Month(f"{self.first - timedelta(days=1):%Y-%m}")

    def back(self, count: int) -> list["Month"]:
        """This month and the ones before it, `count` in all, oldest first."""
        months = [self]
        while len(months) < count:
            months.append(months[-1].former())
        return months[::-1]
