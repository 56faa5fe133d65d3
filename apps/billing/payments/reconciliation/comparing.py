"""Compare our books with Alipay's bill of a day: import the bill, act on it, and notify staff.

Every step may be repeated: bills are identified by their digest, lines by their numbers, fees by their keys. A payment
that only Alipay has is credited where its order is known, by asking the gateway as the polling does: a bill alone moves
nothing but fees. The rest waits for staff (`acts`).
"""

import hashlib
import logging
from dataclasses import dataclass
from datetime import date, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.bill_choices import BillItemKind, BillOutcome, BillSource, BillState
from apps.billing.choices import RefundStatus, TopUpStatus
from apps.billing.models import AlipayBill, BillDay, BillItem
from apps.billing.payments.alipay import numbers, orders, refunds
from apps.billing.payments.alipay.client import OutcomeUnknown, Refused
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.billing.payments.reconciliation import items
from apps.billing.payments.reconciliation.bills import Bill, BillProblem, Line, read
from apps.billing.payments.reconciliation.selectors import OPEN
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform
from apps.tenants import settings

log = logging.getLogger(__name__)
# How many payments and refunds of one day the gateway is asked about in one go.
MOST_ASKED = 500
# After so long a bill is read again whose reader died, or had no answer, before all that is known was settled.
ONCE_MORE = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class ImportedBill:
    """The result of an import. `new`: no identical bill was stored before."""

    day: BillDay
    new: bool


def import_bill(actor: Actor, *, day: date, content: bytes, source: BillSource) -> ImportedBill:
    """Store the bill and compare it. Raises `Invalid` (field `bill`) for anything but a bill of this account and day,
    and `Conflict` if it contradicts a stored one; then nothing is changed.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    bill = _read(content, day)
    with transaction.atomic():
        row = locked_day(day)
        before = row.state
        stored, new = _stored(actor, bill, content, source)
        items.write_lines(actor, stored, _ours(bill))
        row.bill, row.next_try_at, row.problem = stored, row.next_try_at or db_now() + ONCE_MORE, ""
        _compared(actor, row)
        if new:
            _log(actor, row, "bill_taken", {"state": before}, {"state": row.state, "sha256": stored.digest})
    if settle_known(actor, day):
        BillDay.objects.filter(day=day).update(next_try_at=None)
    row.refresh_from_db()
    return ImportedBill(row, new)


def settle_known(actor: Actor, day: date) -> bool:
    """Ask the gateway about orders and refunds in its bill that are open here; then compare again.

    False if it did not answer, so that something is left to ask.
    """
    if not settings.get(AlipaySettings).is_ready:
        return True
    rows = BillItem.objects.filter(day=day, outcome=BillOutcome.THEIRS_ONLY, closed_at__isnull=True)
    waiting = rows.filter(order__isnull=False).select_related("order", "refund__order")[:MOST_ASKED]
    answered = True
    try:
        changed = sum(_asked(actor, item) for item in waiting)
    except OutcomeUnknown as unknown:  # a gateway that does not answer the one will not answer the hundreds behind it
        log.info("the bill of %s: %s", day, unknown)
        changed, answered = 1, False
    if changed:
        compare_again(actor)
    return answered


def compare_again(actor: Actor) -> None:
    """Compare open items with the present state of our books."""
    with transaction.atomic():
        listed = BillItem.objects.filter(OPEN).order_by().values("day")
        days = list(BillDay.objects.select_for_update().filter(pk__in=listed).order_by("day"))
        changed = items.compare_open_items(actor)
        for row in days:
            if row.day in changed and row.bill_id is not None:
                _conclude(actor, row)


def _asked(actor: Actor, item: BillItem) -> bool:
    """Whether asking may have changed something. Raises `Unknown` without an answer about a payment."""
    order, refund = item.order, item.refund
    try:
        if item.kind == BillItemKind.PAYMENT and order is not None and order.status != TopUpStatus.PAID:
            orders.refresh(order)
            return True
        if refund is not None and refund.status == RefundStatus.ASKED:
            refunds.carry_out(actor, refund)
            return True
    except (Refused, orders.Mismatch) as error:
        log.info("%s: %s", item.out_trade_no, error)
    return False


def _read(content: bytes, day: date) -> Bill:
    try:
        bill = read(content)
    except BillProblem as problem:
        raise Invalid.field("bill", problem_text(problem)) from problem
    if bill.day != day:
        raise Invalid.field("bill", _("This is the bill of %(day)s.") % {"day": bill.day.isoformat()})
    seller = settings.get(AlipaySettings).seller_id
    if not seller or not bill.account.startswith(seller):
        raise Invalid.field("bill", _("This is the bill of another merchant's account."))
    return bill


def problem_text(problem: BillProblem) -> str:
    words = {
        "archive": _("This archive cannot be read."),
        "large": _("This file is larger than any bill."),
        "cut_off": _("The bill is cut off: its end is missing."),
        "sums": _("The bill's own number or sum of payments is not that of its lines."),
        "line": _("Line %(line)s cannot be read."),
        "twice": _("Line %(line)s comes twice."),
    }
    other = _("This is no bill of Alipay's with payments (业务明细).")
    return words.get(problem.code, other) % {"line": problem.line}


def _stored(actor: Actor, bill: Bill, content: bytes, source: BillSource) -> tuple[AlipayBill, bool]:
    strange = [line for line in bill.lines if not numbers.is_ours(line.out_trade_no)]
    digest = hashlib.sha256(content).hexdigest()
    found: tuple[AlipayBill, bool] = AlipayBill.objects.get_or_create(
        day=bill.day,
        digest=digest,
        defaults={
            "size": len(content),
            "content": content,
            "source": source,
            "lines": len(bill.lines),
            "others": len(strange),
            "others_fen": sum(x.amount_fen if x.kind is BillItemKind.PAYMENT else -x.amount_fen for x in strange),
            "brought_by_id": actor.user_id,
        },
    )
    return found


def _ours(bill: Bill) -> list[Line]:
    return [line for line in bill.lines if numbers.is_ours(line.out_trade_no)]


def locked_day(day: date) -> BillDay:
    BillDay.objects.bulk_create([BillDay(day=day)], ignore_conflicts=True)
    found: BillDay = BillDay.objects.select_for_update().get(day=day)
    return found


def _compared(actor: Actor, row: BillDay) -> None:
    """Complete the comparison of a day whose lines are written, and of the days whose open items they settle."""
    items.write_ours_only(row.day)
    items.post_fees(actor, row.day)
    row.compared_at = db_now()
    row.save(update_fields=["bill", "next_try_at", "problem", "compared_at"])
    _conclude(actor, row)
    for other in BillDay.objects.filter(state=BillState.DIFFERS).exclude(day=row.day):
        if not open_items(other.day):
            _conclude(actor, other)


def open_items(day: date) -> int:
    """How many of a day's payments and refunds need somebody."""
    return BillItem.objects.filter(OPEN, day=day).count()


def conclude(actor: Actor, day: date) -> None:
    """Update whether the day agrees, after one of its items was closed."""
    row = locked_day(day)
    if row.bill_id is not None:
        _conclude(actor, row)


def _conclude(actor: Actor, row: BillDay) -> None:
    left = open_items(row.day)
    row.state = BillState.DIFFERS if left else BillState.AGREES
    row.save(update_fields=["state"])
    if left:
        notify_platform(
            permission=Permission.PLATFORM_RECHARGE,
            kind="billing.bill_differs",
            data={"day": row.day.isoformat(), "open": left},
            dedup=f"bill_differs:{row.day}:{row.bill_id}",
        )


def record_missing_bill(actor: Actor, day: date, *, final: bool) -> None:
    """Record that Alipay has no bill (yet): without payments there never will be one, otherwise staff are told."""
    with transaction.atomic():
        row = locked_day(day)
        if row.bill_id is not None:
            return
        items.write_ours_only(day)
        missing = BillItem.objects.filter(day=day).exists()
        if final and not missing:
            row.state, row.next_try_at, row.problem = BillState.EMPTY, None, ""
        else:
            row.problem = "no_bill"
        row.save(update_fields=["state", "next_try_at", "problem"])
        if missing and final:
            notify_platform(
                permission=Permission.PLATFORM_RECHARGE,
                kind="billing.bill_missing",
                data={"day": day.isoformat()},
                dedup=f"bill_missing:{day}",
            )


def ensure_day(day: date) -> BillDay:
    """The row of a day, created if missing."""
    with transaction.atomic():
        return locked_day(day)


def request_bill(actor: Actor, day: date) -> BillDay:
    """Have a worker fetch the bill again soon. Raises `Conflict` if Alipay is not set up."""
    actor.require(Permission.PLATFORM_RECHARGE)
    if not settings.get(AlipaySettings).is_ready:
        raise Conflict(_("Payment by Alipay is not set up."), hint=_("Ask the platform's administrators."))
    with transaction.atomic():
        row = locked_day(day)
        row.next_try_at, row.tries, row.problem = db_now(), 0, ""
        row.save(update_fields=["next_try_at", "tries", "problem"])
        _log(actor, row, "bill_asked", {}, {"state": row.state})
    return row


def _log(actor: Actor, row: BillDay, verb: str, before: dict[str, object], after: dict[str, object]) -> None:
    target = Target("bill", row.day.isoformat(), row.day.isoformat())
    record(actor, action=f"billing.alipay.{verb}", target=target, before=before, after=after)
