"""Whether a list of charges and the ledger say the same."""

from dataclasses import dataclass

from django.db.models import Case, F, Q, QuerySet, Sum, When

from apps.billing.choices import TransferKind
from apps.billing.models import Charge, RatingRun, Transfer
from apps.billing.selectors.consumption import ChargeFilter, charges
from apps.common.actor import Actor
from apps.common.permissions import Permission


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of the rating runs that the charges belong to: whole fen of all their charges and of their transfers."""

    runs: int
    charged_fen: int
    moved_fen: int

    @property
    def difference_fen(self) -> int:
        return self.charged_fen - self.moved_fen


def agreement(actor: Actor, *, filters: ChargeFilter) -> Agreement:
    """Compare, for every rating run that `filters` touches, its charges with the transfers that it made."""
    return agreement_of(actor, charges(actor, filters=filters))


def agreement_of(actor: Actor, rows: QuerySet[Charge]) -> Agreement:
    """The same for charges that were narrowed down otherwise: whole runs each, by wallet and by vouchers."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW if actor.platform else Permission.BILLING_VIEW)
    runs = RatingRun.objects.filter(pk__in=rows.order_by().values("run_id").distinct()).values("pk")
    return Agreement(
        runs=runs.count(),
        charged_fen=int(Charge.objects.filter(run__in=runs).aggregate(fen=Sum("amount_fen"))["fen"] or 0),
        moved_fen=_moved(Q(rating_run__in=runs)) + _moved(Q(voucher_use__run__in=runs)),
    )


def _moved(condition: Q) -> int:
    signed = Case(When(kind=TransferKind.USAGE, then=F("amount_fen")), default=-F("amount_fen"))
    return int(Transfer.objects.filter(condition).aggregate(fen=Sum(signed))["fen"] or 0)
