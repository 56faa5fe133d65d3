"""What an array would cost at once, and how much of it quota and balance let run together."""

import math
from dataclasses import dataclass, replace
from decimal import Decimal

from apps.billing.models import Package
from apps.common.actor import Actor
from apps.tenants import quotas
from apps.training.choices import KIND
from apps.workloads.offers.quoting import offer, resources_of
from apps.workloads.resources import quota_amounts


@dataclass(frozen=True, slots=True)
class ArrayQuote:
    """Rates in fen per hour. `together`: how many of `count` could live at a time now; 0: not even one."""

    count: int
    rate_fen_per_hour: Decimal
    together: int
    by_quota: int
    by_funds: int

    @property
    def whole_rate(self) -> Decimal:
        """While as many run as may."""
        return self.rate_fen_per_hour * self.together

    @property
    def all_for_an_hour(self) -> int:
        """What it costs if each runs for one hour, in fen."""
        return math.ceil(self.rate_fen_per_hour * self.count)


def quote_of(actor: Actor, package: Package, count: int, *, members: int = 1, at_once: int | None = None) -> ArrayQuote:
    """Raises `Conflict` for a package without a price."""
    found = offer(actor, package, kind=KIND, members=members)
    quote = found.quote
    if quote.blocked is not None:
        by_funds = 0
    elif quote.prepaid_until is not None or not quote.hold_fen:
        by_funds = count
    else:
        by_funds = min(count, max(0, quote.available_fen + quote.vouchers_fen) // quote.hold_fen)
    by_quota = _by_quota(actor, package, count, members)
    together = min(by_funds, by_quota, at_once or count)
    return ArrayQuote(count, quote.rate_fen_per_hour, together, by_quota, by_funds)


def _by_quota(actor: Actor, package: Package, count: int, members: int) -> int:
    """The most that fits beside what is held already: whoever fits n times fits fewer times too."""
    one = quota_amounts(replace(resources_of(package), members=members), KIND)
    fits, too_many = 0, count + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        refusal = quotas.shortfall(
            organisation_id=actor.organisation(),
            department_id=actor.department_id,
            user_id=actor.person(),
            amounts={line: middle * amount for line, amount in one.items()},
        )
        fits, too_many = (middle, too_many) if refusal is None else (fits, middle)
    return fits
