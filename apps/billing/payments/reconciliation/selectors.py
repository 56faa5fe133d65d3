"""Reading the reconciliation with Alipay, for the platform's finance staff."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db.models import BigIntegerField, Case, Count, F, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import Coalesce

from apps.billing.bill_choices import BillItemKind, BillOutcome
from apps.billing.models import AlipayBill, BillDay, BillItem
from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.common.permissions import Permission

# What needs somebody.
OPEN = Q(closed_at__isnull=True) & ~Q(outcome=BillOutcome.MATCHED)


@dataclass(frozen=True, slots=True)
class Counts:
    """A day's payments and refunds by outcome; `open`: those that need somebody."""

    open: int
    by_outcome: dict[str, int]

    @property
    def all(self) -> int:
        return sum(self.by_outcome.values())


def bill_days(actor: Actor) -> QuerySet[BillDay]:
    """Newest first, each with `theirs_fen`, `ours_fen` (payments less refunds), `difference_fen` (theirs less ours),
    `fees_fen`, `payments` and `open`.
    """
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows: QuerySet[BillDay] = BillDay.objects.select_related("bill").defer("bill__content")
    rows = rows.annotate(
        theirs_fen=_of_items(Sum(_signed("theirs_fen"))),
        ours_fen=_of_items(Sum(_signed("ours_fen"))),
        fees_fen=_of_items(Sum("fee_fen")),
        payments=_of_items(Count("pk")),
        open=_of_items(Count("pk", filter=OPEN)),
    )
    return rows.annotate(difference_fen=F("theirs_fen") - F("ours_fen")).order_by("-day")


def bill_day(actor: Actor, day: date) -> BillDay:
    """One of them; `NotFound` otherwise."""
    found = bill_days(actor).filter(pk=day).first()
    if found is None:
        raise NotFound
    return found


def bill_items(actor: Actor, *, day: date | None = None) -> QuerySet[BillItem]:
    """Payments and refunds beside each other, newest day first."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows: QuerySet[BillItem] = BillItem.objects.select_related("organisation", "order", "refund", "closed_by", "fee")
    rows = rows if day is None else rows.filter(day=day)
    return rows.order_by("-day", "-paid_at", "-pk")


def open_bill_items(actor: Actor) -> QuerySet[BillItem]:
    """Those that need somebody."""
    return bill_items(actor).filter(OPEN)


def bill_item(actor: Actor, item_id: int) -> BillItem:
    found = bill_items(actor).filter(pk=item_id).first()
    if found is None:
        raise NotFound
    return found


def bills_of(actor: Actor, day: date) -> QuerySet[AlipayBill]:
    """The day's bills without their contents, newest first."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows: QuerySet[AlipayBill] = AlipayBill.objects.filter(day=day).defer("content").select_related("brought_by")
    return rows


def stored_bill(actor: Actor, bill_id: int) -> AlipayBill:
    """One bill with its content."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    found = AlipayBill.objects.filter(pk=bill_id).first()
    if found is None:
        raise NotFound
    return found


def counts(actor: Actor, day: date) -> Counts:
    rows = bill_items(actor, day=day).order_by()
    found = {row["outcome"]: row["n"] for row in rows.values("outcome").annotate(n=Count("pk"))}
    return Counts(rows.filter(OPEN).count(), {outcome.value: found.get(outcome.value, 0) for outcome in BillOutcome})


def _signed(field: str) -> Case:
    return Case(When(kind=BillItemKind.REFUND, then=-F(field)), default=F(field), output_field=BigIntegerField())


def _of_items(figure: Any) -> Coalesce:
    """An aggregate over the items of the outer row's day; 0 without any."""
    rows = BillItem.objects.filter(day=OuterRef("day")).order_by().values("day").annotate(figure=figure)
    return Coalesce(Subquery(rows.values("figure"), output_field=BigIntegerField()), 0)
