"""Whether a list of charges agrees with the ledger."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.db.models import Case, F, Q, QuerySet, Sum, When

from apps.billing.choices import AccountKind, TransferKind
from apps.billing.models import Charge, DaySum, RatingRun, Transfer
from apps.billing.months import Month
from apps.billing.statements.figures import flows, is_rated, rating_runs, settled_transfers
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.common.snapshots import one_snapshot


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of the rating runs that the charges belong to: whole fen of all their charges and of their transfers."""

    runs: int
    charged_fen: int
    moved_fen: int

    @property
    def difference_fen(self) -> int:
        return self.charged_fen - self.moved_fen


@one_snapshot()
def agreement_of_months(actor: Actor, *, since: date, until: date, organisation_id: UUID | None = None) -> Agreement:
    """All rating runs of the billing months that these days lie in, of one organisation or of all.

    Reads the kept sums, so that it is fast for any number of charges; a nightly check compares the two.
    """
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    months, owner = list(_months(since, until)), Q() if organisation_id is None else Q(organisation_id=organisation_id)
    charged = DaySum.objects.filter(owner, billed__in=[month.period for month in months])
    moved = flows(settled_transfers(months[0].start, months[-1].end).filter(owner))
    return Agreement(
        runs=sum(rating_runs(month, organisation_id).count() for month in months),
        charged_fen=int(charged.aggregate(fen=Sum("amount_fen"))["fen"] or 0),
        moved_fen=sum(flow.into(AccountKind.REVENUE) for flow in moved if is_rated(flow)),
    )


def _months(since: date, until: date) -> Iterator[Month]:
    month = Month(f"{since:%Y-%m}")
    while month.first <= until:
        yield month
        month = month.next()


@one_snapshot()
def agreement_of(actor: Actor, rows: QuerySet[Charge]) -> Agreement:
    """Of the rating runs that some charges belong to, whole runs each: by wallet and by vouchers."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    found = RatingRun.objects.filter(pk__in=rows.order_by().values("run_id").distinct()).values("pk")
    return Agreement(
        runs=found.count(),
        charged_fen=int(Charge.objects.filter(run__in=found).aggregate(fen=Sum("amount_fen"))["fen"] or 0),
        moved_fen=_moved(Q(rating_run__in=found)) + _moved(Q(voucher_use__run__in=found)),
    )


def _moved(condition: Q) -> int:
    signed = Case(When(kind=TransferKind.USAGE, then=F("amount_fen")), default=-F("amount_fen"))
    return int(Transfer.objects.filter(condition).aggregate(fen=Sum(signed))["fen"] or 0)
