"""Payments and refunds in Alipay's bill beside those in our books. Callers hold the lock of the day's row."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.bill_choices import BillItemKind, BillOutcome
from apps.billing.choices import AccountKind, RefundStatus, TopUpStatus, TransferKind
from apps.billing.ledger.services import Posting, platform_account, post
from apps.billing.models import AlipayBill, BillItem, TopUpOrder, TopUpRefund
from apps.billing.payments.alipay import numbers
from apps.billing.payments.reconciliation.bills import CHINA, Line
from apps.billing.payments.reconciliation.selectors import OPEN
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.tenants.models import Organisation

AT_ONCE = 2000
# Our clock and Alipay's may disagree at midnight: what we recorded in a day's last minutes is looked for a day later.
EDGE = timedelta(minutes=10)
JUDGED = ["organisation", "order", "refund", "ours_fen", "outcome", "note", "closed_by", "closed_at"]
THEIRS = ["day", "bill", "trade_no", "theirs_fen", "fee_fen", "paid_at"]


def write_lines(actor: Actor, bill: AlipayBill, lines: Sequence[Line]) -> None:
    """Write the bill's lines into the items. Raises `Conflict` if it contradicts an earlier bill."""
    for part in _parts(lines):
        known = {_key(item): item for item in BillItem.objects.filter(out_trade_no__in={x.out_trade_no for x in part})}
        items = [_with_line(known.get(line.key), line, bill) for line in part]
        compare_items(actor, items)
        BillItem.objects.bulk_create([item for item in items if item.pk is None], batch_size=AT_ONCE)
        BillItem.objects.bulk_update([x for x in items if x.pk is not None], [*JUDGED, *THEIRS], batch_size=500)


def write_ours_only(day: date) -> None:
    """Write items for what we recorded on that day and no bill contains."""
    begin = datetime.combine(day, time.min, CHINA) - EDGE
    window = (begin, begin + timedelta(days=1))
    orders = _missing_from_bills(
        TopUpOrder.objects.filter(status=TopUpStatus.PAID, paid_at__range=window), BillItemKind.PAYMENT
    )
    refunds = _missing_from_bills(
        TopUpRefund.objects.filter(status=RefundStatus.DONE, ended_at__range=window).select_related("order"),
        BillItemKind.REFUND,
    )
    items = [_of_order(order, day) for order in orders] + [_of_refund(refund, day) for refund in refunds]
    BillItem.objects.bulk_create(items, batch_size=AT_ONCE, ignore_conflicts=True)


def compare_items(actor: Actor, items: Iterable[BillItem]) -> set[date]:
    """Compare again with our books; return the days of changed items. Saves nothing. A change reopens closed items."""
    listed = list(items)
    orders = {o.out_trade_no: o for o in TopUpOrder.objects.filter(out_trade_no__in={x.out_trade_no for x in listed})}
    numbered = {item.out_request_no for item in listed if item.out_request_no}
    rows = TopUpRefund.objects.filter(out_request_no__in=numbered).select_related("order")
    refunds = {(r.order.out_trade_no, r.out_request_no): r for r in rows}  # a number is one payment's own at Alipay
    there = _organisations({numbers.organisation_of(item.out_trade_no) for item in listed} - {None})
    changed = set()
    for item in listed:
        item.order = order = orders.get(item.out_trade_no)
        item.refund = refunds.get((item.out_trade_no, item.out_request_no))
        item.organisation_id = order.organisation_id if order else there.get(numbers.organisation_of(item.out_trade_no))
        ours = _ours(item)
        if (ours, outcome_of(item.theirs_fen, ours)) != (item.ours_fen, item.outcome):
            item.ours_fen, item.outcome = ours, outcome_of(item.theirs_fen, ours)
            _reopen(actor, item)
            changed.add(item.day)
    return changed


def compare_open_items(actor: Actor, *, limit: int = 5000) -> set[date]:
    """Compare open items with our books, which may have changed; return the days that changed."""
    items = list(BillItem.objects.filter(OPEN).order_by("pk")[:limit])
    changed = compare_items(actor, items)
    if changed:
        BillItem.objects.bulk_update(items, JUDGED, batch_size=500)
    return changed


def outcome_of(theirs: int | None, ours: int | None) -> BillOutcome:
    if theirs is None:
        return BillOutcome.OURS_ONLY
    if ours is None:
        return BillOutcome.THEIRS_ONLY
    return BillOutcome.MATCHED if theirs == ours else BillOutcome.DIFFERS


def post_fees(actor: Actor, day: date) -> None:
    """Post the fee that Alipay kept of each payment, once: from fees to the clearing account, where it is missing."""
    for item in BillItem.objects.filter(day=day, fee__isnull=True).exclude(fee_fen=0).order_by("pk"):
        fees, clearing = platform_account(AccountKind.FEES), platform_account(AccountKind.ALIPAY_CLEARING)
        kept = item.fee_fen > 0
        posting = Posting(
            debit=fees if kept else clearing,
            credit=clearing if kept else fees,
            amount_fen=abs(item.fee_fen),
            kind=TransferKind.FEE if kept else TransferKind.CORRECTION,
            idem=f"fee:alipay:{item.trade_no}:{item.out_request_no}",
            ref=item.out_request_no or item.out_trade_no,
            note="Alipay",
        )
        item.fee = post(actor, posting=posting)
        item.save(update_fields=["fee"])


def _ours(item: BillItem) -> int | None:
    if item.kind == BillItemKind.REFUND:
        refund = item.refund
        return int(refund.amount_fen) if refund is not None and refund.status == RefundStatus.DONE else None
    order = item.order
    return int(order.amount_fen) if order is not None and order.status == TopUpStatus.PAID else None


def _with_line(item: BillItem | None, line: Line, bill: AlipayBill) -> BillItem:
    found = item or BillItem(kind=line.kind, out_trade_no=line.out_trade_no, out_request_no=line.out_request_no)
    if found.theirs_fen is not None and (found.theirs_fen, found.fee_fen) != (line.amount_fen, line.fee_fen):
        words = _("%(number)s has another amount in a bill that is stored already.")
        raise Conflict(words % {"number": line.out_request_no or line.out_trade_no})
    found.day, found.bill, found.trade_no = bill.day, found.bill or bill, line.trade_no
    found.theirs_fen, found.fee_fen, found.paid_at = line.amount_fen, line.fee_fen, line.at
    return found


def _of_order(order: TopUpOrder, day: date) -> BillItem:
    return BillItem(
        kind=BillItemKind.PAYMENT,
        out_trade_no=order.out_trade_no,
        trade_no=order.trade_no,
        organisation_id=order.organisation_id,
        order=order,
        day=day,
        ours_fen=order.amount_fen,
        outcome=BillOutcome.OURS_ONLY,
    )


def _of_refund(refund: TopUpRefund, day: date) -> BillItem:
    item = _of_order(refund.order, day)
    item.kind, item.out_request_no = BillItemKind.REFUND, refund.out_request_no
    item.refund, item.ours_fen = refund, refund.amount_fen
    return item


def _missing_from_bills(rows: QuerySet[Any], kind: BillItemKind) -> QuerySet[Any]:
    same = {"out_trade_no": OuterRef("out_trade_no")}
    if kind is BillItemKind.REFUND:
        same = {"out_trade_no": OuterRef("order__out_trade_no"), "out_request_no": OuterRef("out_request_no")}
    return rows.exclude(Exists(BillItem.objects.filter(kind=kind, **same)))


def _reopen(actor: Actor, item: BillItem) -> None:
    if item.closed_at is None:
        return
    before = {"note": item.note}
    item.note, item.closed_at, item.closed_by = "", None, None
    log(actor, item, "reopened", before=before, after={"outcome": item.outcome})


def log(actor: Actor, item: BillItem, verb: str, *, before: Mapping[str, object], after: Mapping[str, object]) -> None:
    record(
        actor,
        action=f"billing.alipay.bill_{verb}",
        target=Target("payment", item.out_request_no or item.out_trade_no, item.out_request_no or item.out_trade_no),
        organisation_id=item.organisation_id,
        before=before,
        after=after,
    )


def _organisations(wanted: Iterable[UUID | None]) -> dict[UUID | None, UUID]:
    """The organisations that exist: one may have been founded after the backup that was restored."""
    return {pk: pk for pk in Organisation.objects.filter(pk__in=list(wanted)).values_list("pk", flat=True)}


def _key(item: BillItem) -> tuple[str, str, str]:
    return (item.kind, item.out_trade_no, item.out_request_no)


def _parts(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    for start in range(0, len(lines), AT_ONCE):
        yield lines[start : start + AT_ONCE]
