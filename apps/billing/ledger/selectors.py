"""Check the books against themselves. All lists must always be empty."""

from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from apps.billing.choices import AccountKind
from apps.billing.models import Account, Charge, Hold, RatingRun, Transfer, Voucher, VoucherUse


@dataclass(frozen=True, slots=True)
class Drift:
    """An account whose stored sums differ from those of its transfers and holds (fen)."""

    account_id: int
    balance_fen: int
    transfers_fen: int
    held_fen: int
    holds_fen: int


def drift() -> list[Drift]:
    accounts = Account.objects.annotate(
        transfers_fen=_sum(Transfer.objects.filter(credit=OuterRef("pk")), "credit", "amount_fen")
        - _sum(Transfer.objects.filter(debit=OuterRef("pk")), "debit", "amount_fen"),
        holds_fen=_sum(
            Hold.objects.filter(organisation=OuterRef("organisation"), end__isnull=True), "organisation", "amount_fen"
        ),
    )
    wrong = accounts.filter(~Q(balance_fen=F("transfers_fen")) | (Q(kind="cash") & ~Q(held_fen=F("holds_fen"))))
    columns = wrong.values_list("pk", "balance_fen", "transfers_fen", "held_fen", "holds_fen").order_by("pk")
    return [Drift(*row) for row in columns]


def unbalanced_runs() -> list[int]:
    """Numbers (ids) of rating runs whose charges or transfers do not add up to the amount that they state."""
    runs = RatingRun.objects.annotate(
        charged=_sum(Charge.objects.filter(run=OuterRef("pk")), "run", "amount_fen"),
        by_vouchers=_sum(VoucherUse.objects.filter(run=OuterRef("pk")), "run", "amount_fen"),
        by_wallet=Coalesce(F("transfer__amount_fen"), 0, output_field=BigIntegerField()),
    )
    rest = F("amount_fen") - F("by_vouchers")
    moved = Q(by_vouchers=F("voucher_fen")) & (Q(by_wallet=rest) | Q(by_wallet=-rest))
    wrong = runs.exclude(Q(charged=F("amount_fen")) & moved)
    return list(wrong.values_list("pk", flat=True).order_by("pk"))


def voucher_drift() -> list[int]:
    """Ids of voucher accounts whose balance is not what is left of their organisation's vouchers."""
    left = _sum(Voucher.objects.filter(organisation=OuterRef("organisation")), "organisation", "left_fen")
    wrong = Account.objects.filter(kind=AccountKind.VOUCHER).annotate(left=left).exclude(balance_fen=F("left"))
    return list(wrong.values_list("pk", flat=True).order_by("pk"))


def _sum(rows: "QuerySet[Any]", group: str, column: str) -> Coalesce:
    totals = rows.order_by().values(group).annotate(total=Sum(column)).values("total")
    return Coalesce(Subquery(totals, output_field=BigIntegerField()), 0, output_field=BigIntegerField())
