"""The figures of a billing month, read from the ledger and from the kept sums of charges.

Everything of a rating run belongs to the month in which the run was made, all other movements to their own; so the
lines of a bill, its rounding and the ledger's transfers are three views of the same runs and always add up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, Case, Count, F, Q, QuerySet, Sum, When
from django.db.models.functions import Coalesce, TruncMonth

from apps.billing.choices import AccountKind, BillKind, TransferKind
from apps.billing.models import Charge, DaySum, RatingRun, Transfer
from apps.billing.models.rating import CREDIT
from apps.billing.months import Month

# What moves between an organisation and its revenue for what it has used, and all that its bill is made of.
RATED = (TransferKind.USAGE, TransferKind.CORRECTION, TransferKind.CREDIT)
BILLED = (*RATED, TransferKind.ADJUSTMENT)
_CLEARING = (AccountKind.ALIPAY_CLEARING, AccountKind.OFFLINE_CLEARING, AccountKind.REFUND_CLEARING)
# A run and its transfers are written one after the other in one transaction: at most this far apart.
MARGIN = timedelta(hours=1)
_RUN = "rating_run__at", "voucher_use__run__at"


@dataclass(frozen=True, slots=True)
class Flow:
    """All movements of one kind between two kinds of accounts: whole fen and how many."""

    kind: TransferKind
    debit: AccountKind
    credit: AccountKind
    amount_fen: int
    count: int

    def into(self, account: AccountKind) -> int:
        """Fen that came into accounts of this kind; below zero: went out."""
        return self.amount_fen * ((self.credit == account) - (self.debit == account))


@dataclass(frozen=True, slots=True)
class UsageLine:
    """Charges of one price version, discount and month of use. `seconds`: of each replica that was charged for."""

    kind: BillKind
    usage_period: str
    price_version_id: int
    discount: Decimal
    count: int
    seconds: Decimal
    exact_fen: Decimal


def settled_transfers(since: datetime, until: datetime | None = None) -> QuerySet[Transfer]:
    """Movements settled in [since, until), each with `settled_at`; within the scope."""
    rows: QuerySet[Transfer] = Transfer.objects.filter(kind__in=TransferKind.values, at__gte=since - MARGIN)
    if until is not None:
        rows = rows.filter(at__lt=until + MARGIN)
    rows = rows.annotate(settled_at=Coalesce(*_RUN, "at")).filter(settled_at__gte=since)
    return rows if until is None else rows.filter(settled_at__lt=until)


def flows(rows: QuerySet[Transfer]) -> list[Flow]:
    """The rows summed by kind and accounts."""
    kinds = rows.order_by().values_list("kind", "debit__kind", "credit__kind")
    summed = kinds.annotate(fen=Sum("amount_fen"), count=Count("pk")).order_by("kind", "debit__kind", "credit__kind")
    return [flow_of(*row) for row in summed]


def flow_of(kind: str, debit: str, credit: str, fen: int, count: int) -> Flow:
    return Flow(TransferKind(kind), AccountKind(debit), AccountKind(credit), int(fen), count)


def flows_of(organisation_id: UUID, month: Month) -> list[Flow]:
    return flows(settled_transfers(month.start, month.end).filter(organisation_id=organisation_id))


def adjustments_of(organisation_id: UUID, month: Month) -> QuerySet[Transfer]:
    """The month's adjustments in the order in which they were made, each with `billed_fen`: below zero, a credit."""
    rows: QuerySet[Transfer] = Transfer.objects.filter(
        organisation_id=organisation_id, kind=TransferKind.ADJUSTMENT, at__gte=month.start, at__lt=month.end
    )
    back = When(debit__kind=AccountKind.REVENUE, then=-F("amount_fen"))
    return rows.annotate(billed_fen=Case(back, default=F("amount_fen"), output_field=BigIntegerField())).order_by("pk")


def moved_after(organisation_id: UUID, month: Month) -> int:
    """Fen that came into the wallet since the month's end; below zero: went out."""
    later = flows(settled_transfers(month.end).filter(organisation_id=organisation_id))
    return sum(flow.into(AccountKind.CASH) for flow in later)


def is_billed(flow: Flow) -> bool:
    """Whether it is part of the bill; a payment of the same kind into a wallet (a refused refund) is not."""
    return flow.kind in BILLED and AccountKind.REVENUE in (flow.debit, flow.credit)


def is_rated(flow: Flow) -> bool:
    """Whether it is what charges come to: the bill without adjustments."""
    return flow.kind in RATED and is_billed(flow)


def adjusted_fen(found: Iterable[Flow]) -> int:
    """Fen that adjustments add to the bill; below zero: they take off more than they add."""
    return sum(flow.into(AccountKind.REVENUE) for flow in found if flow.kind is TransferKind.ADJUSTMENT)


def received_fen(flow: Flow) -> int:
    """Fen that wallets received from outside; a refused refund comes back the same way."""
    outside = flow.debit in _CLEARING or flow.credit in _CLEARING
    return flow.into(AccountKind.CASH) if outside else 0


def rating_runs(month: Month, organisation_id: UUID | None = None) -> QuerySet[RatingRun]:
    rows: QuerySet[RatingRun] = RatingRun.objects.filter(at__gte=month.start, at__lt=month.end)
    return rows if organisation_id is None else rows.filter(organisation_id=organisation_id)


def charges_of(organisation_id: UUID, month: Month) -> QuerySet[Charge]:
    """Charges of the month's rating runs."""
    rows: QuerySet[Charge] = Charge.objects.filter(
        organisation_id=organisation_id,
        run__organisation_id=organisation_id,
        run__at__gte=month.start,
        run__at__lt=month.end,
    )
    return rows


def usage_lines(organisation_id: UUID, month: Month) -> list[UsageLine]:
    """The month's charges grouped into the lines of a bill, from their kept sums."""
    rows = DaySum.objects.filter(organisation_id=organisation_id, billed=month.period)
    summed = rows.values_list("revision", TruncMonth("day"), "price_version_id", "discount_off").annotate(
        count=Sum("charges"), charged=Sum("replica_seconds"), exact=Sum("exact_fen")
    )
    found = [_used(month, *row) for row in summed]
    order = list(BillKind)
    return sorted(
        found, key=lambda each: (order.index(each.kind), each.usage_period, each.price_version_id, each.discount)
    )


def _used(month: Month, revision: int, used_in: date, price: int, discount: Decimal, *sums: Any) -> UsageLine:
    (count, charged, exact), period = sums, f"{used_in:%Y-%m}"
    return UsageLine(kind_of(revision, period, month), period, price, discount, count, charged, exact)


def kind_of(revision: int, period: str, month: Month) -> BillKind:
    if revision == 0:
        return BillKind.USAGE if period == month.period else BillKind.LATE
    return BillKind.CREDIT if revision == CREDIT else BillKind.REVERSAL


def of_kind(kind: BillKind, month: Month) -> Q:
    """The charges that `kind_of` gives this kind: what a line of the bill opens into."""
    here = Q(period=month.period)
    return {
        BillKind.USAGE: Q(revision=0) & here,
        BillKind.LATE: Q(revision=0) & ~here,
        BillKind.CREDIT: Q(revision=CREDIT),
        BillKind.REVERSAL: Q(revision__gt=0) & ~Q(revision=CREDIT),
    }[kind]


def rated_fen(organisation_id: UUID, month: Month) -> int:
    """Whole fen of the month's rating runs: the bill."""
    return int(rating_runs(month, organisation_id).aggregate(fen=Sum("amount_fen"))["fen"] or 0)


def paid_by(found: Iterable[Flow]) -> Iterator[tuple[AccountKind, int, int]]:
    """(account, whole fen it paid, movements) of what was billed, wallet first; back into it counts below zero."""
    billed = [flow for flow in found if is_billed(flow)]
    for account in (AccountKind.CASH, AccountKind.VOUCHER):
        touching = [flow for flow in billed if account in (flow.debit, flow.credit)]
        if touching:
            yield account, -sum(flow.into(account) for flow in touching), sum(flow.count for flow in touching)
