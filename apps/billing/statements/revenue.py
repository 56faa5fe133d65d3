"""Revenue, deferred revenue (prepaid time still owed) and receipts of the platform, read from the ledger.

Recognised is what reached the organisations' revenue accounts: usage less corrections and credits, whoever paid it
(wallet or voucher), adjustments of bills, and prepaid time as it is used up. Months are those of the statements.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import Sum

from apps.billing.choices import AccountKind, TransferKind
from apps.billing.days import billing_day, midnight
from apps.billing.models import Account, DaySum, PrepaidOrder, Transfer
from apps.billing.months import COMPLETE_AFTER, Month
from apps.billing.statements.figures import (
    Flow,
    adjusted_fen,
    flow_of,
    flows,
    is_rated,
    rating_runs,
    received_fen,
    settled_transfers,
)
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.common.snapshots import one_snapshot
from apps.tenants.models import Organisation

_KEPT = 40 * 86400  # seconds


@dataclass(frozen=True, slots=True)
class Book:
    """One month over all organisations, fen. `deferred_fen` is the balance at its end."""

    month: Month
    flows: Sequence[Flow]
    deferred_fen: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing moved in it and nothing is left."""
        return not self.flows and not self.deferred_fen

    def into(self, account: AccountKind) -> int:
        return sum(flow.into(account) for flow in self.flows)

    @property
    def recognised_fen(self) -> int:
        return self.into(AccountKind.REVENUE)

    @property
    def consumption_fen(self) -> int:
        """Usage less corrections and credits."""
        return sum(flow.into(AccountKind.REVENUE) for flow in self.flows if is_rated(flow))

    @property
    def voucher_fen(self) -> int:
        """The part of the consumption that vouchers paid: earned, but never received."""
        return -sum(flow.into(AccountKind.VOUCHER) for flow in self.flows if is_rated(flow))

    @property
    def cash_fen(self) -> int:
        """The part of the consumption that wallets paid."""
        return self.consumption_fen - self.voucher_fen

    @property
    def adjusted_fen(self) -> int:
        """What credit and debit notes added to the bills; below zero: took off."""
        return adjusted_fen(self.flows)

    @property
    def prepaid_fen(self) -> int:
        """Prepaid time that was used up."""
        return sum(flow.amount_fen for flow in self.flows if flow.kind is TransferKind.RECOGNITION)

    @property
    def received_fen(self) -> int:
        """What came into the wallets from outside, less what was paid back."""
        return sum(received_fen(flow) for flow in self.flows)

    @property
    def sold_ahead_fen(self) -> int:
        """Prepayments less what was given back of them."""
        return self.into(AccountKind.DEFERRED) + self.prepaid_fen


def monthly_books(actor: Actor, *, last: Month, count: int) -> list[Book]:
    """`count` months up to `last`, oldest first."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    now = db_now()
    read = {month: _flows(month, now) for month in last.back(count)}
    later = flows(settled_transfers(last.end))
    deferred = balance(AccountKind.DEFERRED) - sum(flow.into(AccountKind.DEFERRED) for flow in later)
    found = []
    for month in reversed(read):
        found.append(Book(month, read[month], deferred))
        deferred -= found[-1].into(AccountKind.DEFERRED)
    return found[::-1]


def _flows(month: Month, now: datetime) -> list[Flow]:
    """Complete days never change again: they are summed once and cached, and only later movements are read.

    One entry for each month, which grows with its days until the month is complete itself.
    """
    key = f"billing.flows.2.{month.period}"
    until, rows = cache.get(key) or (month.start, [])
    complete = min(midnight(billing_day(now - COMPLETE_AFTER)), month.end)
    if until < complete:
        rows += [
            (each.kind.value, each.debit.value, each.credit.value, each.amount_fen, each.count)
            for each in flows(settled_transfers(until, complete))
        ]
        until = complete
        cache.set(key, (until, rows), _KEPT)
    found = [flow_of(*row) for row in rows]
    return found if until == month.end else found + flows(settled_transfers(until, month.end))


def balance(kind: AccountKind) -> int:
    """All accounts of a kind together."""
    return int(Account.objects.filter(kind=kind).aggregate(fen=Sum("balance_fen"))["fen"] or 0)


@dataclass(frozen=True, slots=True)
class Owed:
    """Wallets below zero: how many, and how much together (a positive number)."""

    count: int
    fen: int


def owed(actor: Actor) -> Owed:
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    below = Account.objects.filter(kind=AccountKind.CASH, balance_fen__lt=0)
    return Owed(below.count(), -int(below.aggregate(fen=Sum("balance_fen"))["fen"] or 0))


def by_organisation(actor: Actor, *, month: Month) -> list[dict[str, Any]]:
    """Rows {organisation_id, name, consumption_fen, adjusted_fen, prepaid_fen, fen}, the greatest revenue first.

    What was used is read from the kept sums of the month's charges, as `by_package` does.
    """
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    charged = DaySum.objects.filter(billed=month.period).values_list("organisation_id")
    used = {key: int(fen) for key, fen in charged.annotate(fen=Sum("amount_fen"))}
    rows = settled_transfers(month.start, month.end).filter(kind=TransferKind.RECOGNITION).order_by()
    prepaid = {key: int(fen) for key, fen in rows.values_list("organisation_id").annotate(fen=Sum("amount_fen"))}
    adjusted = _adjusted(month)
    known = used.keys() | prepaid.keys() | adjusted.keys()
    names = Organisation.objects.filter(pk__in=known).values_list("pk", "name")
    found = [_row(key, name, used.get(key, 0), adjusted.get(key, 0), prepaid.get(key, 0)) for key, name in names]
    return sorted(found, key=lambda row: (-row["fen"], row["name"]))


def _adjusted(month: Month) -> dict[UUID, int]:
    """Fen that adjustments added to each organisation's bill."""
    rows = settled_transfers(month.start, month.end).filter(kind=TransferKind.ADJUSTMENT).order_by()
    sums = rows.values_list("organisation_id", "credit__kind").annotate(fen=Sum("amount_fen"))
    found: dict[UUID, int] = {}
    for organisation_id, into, fen in sums:
        found[organisation_id] = found.get(organisation_id, 0) + int(fen) * (1 if into == AccountKind.REVENUE else -1)
    return found


def _row(organisation_id: UUID, name: str, used: int, adjusted: int, prepaid: int) -> dict[str, Any]:
    sums = {"consumption_fen": used, "adjusted_fen": adjusted, "prepaid_fen": prepaid, "fen": used + adjusted + prepaid}
    return {"organisation_id": organisation_id, "name": name, **sums}


@dataclass(frozen=True, slots=True)
class PackageRevenue:
    """What one package has earned in a month: by use, and as prepaid time."""

    package_id: int
    name_en: str
    name_zh: str
    consumption_fen: int
    prepaid_fen: int

    @property
    def fen(self) -> int:
        return self.consumption_fen + self.prepaid_fen


def by_package(actor: Actor, *, month: Month) -> list[PackageRevenue]:
    """The greatest first. Reads the kept sums of the month's charges, which make up the rating runs to the fen."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    names: dict[int, tuple[str, str]] = {}
    used: dict[int, int] = {}
    package = "price_version__package"
    columns = f"{package}_id", f"{package}__name_en", f"{package}__name_zh"
    charged = DaySum.objects.filter(billed=month.period).values_list(*columns)
    for key, name_en, name_zh, fen in charged.annotate(fen=Sum("amount_fen")):
        names[key], used[key] = (name_en, name_zh), int(fen)
    earned = _prepaid_by_package(month, names)
    found = [PackageRevenue(key, *names[key], used.get(key, 0), earned.get(key, 0)) for key in names]
    return sorted(found, key=lambda each: (-each.fen, each.package_id))


def _prepaid_by_package(month: Month, names: dict[int, tuple[str, str]]) -> dict[int, int]:
    """Fen by package; packages that were not there yet are added to `names`."""
    rows = settled_transfers(month.start, month.end).filter(kind=TransferKind.RECOGNITION).order_by().values_list("ref")
    # Every movement of an order names it as `prepaid:<id>`.
    by_order = {UUID(ref.removeprefix("prepaid:")): int(fen) for ref, fen in rows.annotate(fen=Sum("amount_fen"))}
    earned: dict[int, int] = {}
    for order in PrepaidOrder.objects.filter(pk__in=by_order).select_related("package"):
        names.setdefault(order.package_id, (order.package.name_en, order.package.name_zh))
        earned[order.package_id] = earned.get(order.package_id, 0) + by_order[order.pk]
    return earned


@dataclass(frozen=True, slots=True)
class Difference:
    """What two ways of adding up the same money give, fen."""

    accounts_fen: int
    movements_fen: int

    @property
    def fen(self) -> int:
        return self.accounts_fen - self.movements_fen


@one_snapshot()
def revenue_checks(actor: Actor, *, month: Month) -> list[Difference]:
    """Revenue and deferred accounts against all movements, and the month's charges against its movements."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    ever = flows(Transfer.objects.all())
    accounts = [
        Difference(balance(kind), sum(flow.into(kind) for flow in ever))
        for kind in (AccountKind.REVENUE, AccountKind.DEFERRED)
    ]
    return [*accounts, _charges_agree(month)]


def _charges_agree(month: Month) -> Difference:
    rated = int(rating_runs(month).aggregate(fen=Sum("amount_fen"))["fen"] or 0)
    billed: Iterable[Flow] = filter(is_rated, flows(settled_transfers(month.start, month.end)))
    return Difference(rated, sum(flow.into(AccountKind.REVENUE) for flow in billed))


def percent(part: int, whole: int) -> Decimal | None:
    """Its share in per cent; None of nothing."""
    return Decimal(100 * part) / whole if whole else None
