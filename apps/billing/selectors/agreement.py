"""Whether a list of charges and the ledger say the same."""

from dataclasses import dataclass

from django.db.models import Case, F, Q, Sum, When

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
    actor.require(Permission.BILLING_VIEW)
    touched = charges(actor, filters=filters).order_by().values("run_id").distinct()
    runs = RatingRun.objects.filter(pk__in=touched)
    signed = Case(When(kind=TransferKind.USAGE, then=F("amount_fen")), default=-F("amount_fen"))
    of_runs = Q(rating_run__in=runs) | Q(voucher_use__run__in=runs)
    moved = Transfer.objects.filter(of_runs).aggregate(fen=Sum(signed))["fen"] or 0
    charged = Charge.objects.filter(run__in=runs).aggregate(fen=Sum("amount_fen"))["fen"] or 0
    return Agreement(runs.count(), int(charged), int(moved))
