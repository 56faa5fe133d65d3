"""The books checked against themselves. Both lists must be empty, always."""

from dataclasses import dataclass

from django.db.models import BigIntegerField, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from apps.billing.models import Account, Charge, Hold, RatingRun, Transfer


@dataclass(frozen=True, slots=True)
class Drift:
    """An account whose stored sums are not what its transfers and holds add up to (fen)."""

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
    """Numbers (ids) of rating runs whose charges or transfer do not add up to the amount that they state."""
    runs = RatingRun.objects.annotate(
        charged=_sum(Charge.objects.filter(run=OuterRef("pk")), "run", "amount_fen"),
        moved=Coalesce(F("transfer__amount_fen"), 0, output_field=BigIntegerField()),
    )
    wrong = runs.exclude(Q(charged=F("amount_fen")) & (Q(moved=F("amount_fen")) | Q(moved=-F("amount_fen"))))
    return list(wrong.values_list("pk", flat=True).order_by("pk"))


def _sum(rows: "QuerySet[Transfer] | QuerySet[Hold] | QuerySet[Charge]", group: str, column: str) -> Coalesce:
    totals = rows.order_by().values(group).annotate(total=Sum(column)).values("total")
    return Coalesce(Subquery(totals, output_field=BigIntegerField()), 0, output_field=BigIntegerField())
