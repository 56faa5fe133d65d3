"""What staff can do about a payment or refund on which Alipay's bill and our books disagree.

Nothing is credited because of a bill alone: the gateway is asked about every payment first, and only its signed answer
counts. Two people in two windows do no harm: what one has settled, the other finds settled.
"""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.billing.bill_choices import BillItemKind, BillOutcome
from apps.billing.choices import RefundStatus, TopUpStatus
from apps.billing.ledger.services import lock_wallet
from apps.billing.models import BillItem
from apps.billing.payments.alipay import numbers, orders, refunds
from apps.billing.payments.alipay.client import OutcomeUnknown, Refused, Trade
from apps.billing.payments.reconciliation import comparing as reconciliation
from apps.billing.payments.reconciliation import items
from apps.billing.payments.reconciliation.bills import number_by_time
from apps.billing.payments.reconciliation.selectors import OPEN
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, DomainError, Invalid, NotFound, Unavailable
from apps.common.money import yuan
from apps.common.permissions import Permission

NOTE_MAX = 300


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """The gateway's answer about one payment (`status` as it names it) or refund (`status` empty); amounts in fen.

    `fen` None: unknown there.
    """

    status: str
    fen: int | None


@dataclass(frozen=True, slots=True)
class Credited:
    """How many payments were credited, and how many still need somebody."""

    credited: int
    left: int


def ask_gateway(actor: Actor, item_id: int) -> GatewayAnswer:
    """Ask the gateway, and act on its answer for an order or refund that is open here. Raises `Unavailable`."""
    actor.require(Permission.PLATFORM_RECHARGE)
    item = _item(item_id)
    if item.kind == BillItemKind.REFUND:
        if item.refund is not None and item.refund.status == RefundStatus.ASKED:
            refunds.carry_out(actor, item.refund)
        said = GatewayAnswer("", _refunded(item))
    else:
        trade = _trade(item)
        said = GatewayAnswer(trade.status if trade else "", trade.total_fen if trade else None)
        if trade is not None and item.order is not None and item.order.status != TopUpStatus.PAID:
            _settle(trade)
    reconciliation.compare_again(actor)
    return said


def credit(actor: Actor, item_id: int, *, organisation_id: UUID | None = None) -> BillItem:
    """Credit a payment that only Alipay has, if its gateway confirms it, under the key that its notice would have had.

    `organisation_id` says whose it is if neither an order nor the number does. Raises `Conflict` with the reason
    against it, `Unavailable` without an answer. A payment that is already credited is left alone.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    item = _item(item_id)
    if item.outcome == BillOutcome.MATCHED:
        return item
    if item.kind != BillItemKind.PAYMENT or item.outcome != BillOutcome.THEIRS_ONLY:
        raise Conflict(_("Only a payment that Alipay alone has can be credited."))
    trade, whose = _paid(item), _whose(item, organisation_id)
    with transaction.atomic():
        orders.adopt(actor, trade=trade, organisation_id=whose)
        credited = _settle(trade)
        reconciliation.compare_again(actor)
        item.refresh_from_db()
        if credited:
            items.log(actor, item, "credited", before={}, after={"amount_fen": trade.total_fen, "day": str(item.day)})
    return item


def credit_day(actor: Actor, day: date) -> Credited:
    """Credit every payment of the day that Alipay alone has and confirms, as after the restore of a backup."""
    actor.require(Permission.PLATFORM_RECHARGE)
    rows = BillItem.objects.filter(OPEN, day=day, kind=BillItemKind.PAYMENT, outcome=BillOutcome.THEIRS_ONLY)
    found = list(rows.order_by("paid_at", "pk").values_list("pk", flat=True))
    done = sum(_credited(actor, pk) for pk in found[: reconciliation.MOST_ASKED])
    return Credited(done, reconciliation.open_items(day))


def book_refund(actor: Actor, item_id: int) -> BillItem:
    """Book a refund that only Alipay has: the money has left, so it leaves the wallet as well.

    Raises `Conflict` with the reason against it, `InsufficientFunds` if it is spent, `Unavailable`.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    item = _item(item_id)
    if item.outcome == BillOutcome.MATCHED:
        return item
    order = item.order
    if item.kind != BillItemKind.REFUND or item.outcome != BillOutcome.THEIRS_ONLY or item.theirs_fen is None:
        raise Conflict(_("Only a refund that Alipay alone has can be taken out of the wallet."))
    if order is None or order.status != TopUpStatus.PAID:
        raise Conflict(_("Its payment is not in our books."), hint=_("Credit the payment first."))
    if _refunded(item) != item.theirs_fen:
        hint = _("Compare it in Alipay's own pages. Where its bill is wrong, close this with a note.")
        raise Conflict(_("Alipay does not confirm this refund."), hint=hint)
    with transaction.atomic():
        lock_wallet(order.organisation_id)  # two of one payment wait for each other here
        _refuse_a_second_without_a_number(item)
        reason = _("Refunded at Alipay, found in its bill.")
        number = item.out_request_no
        refunds.adopt(actor, order=order, out_request_no=number, amount_fen=item.theirs_fen, reason=reason)
        reconciliation.compare_again(actor)
    item.refresh_from_db()
    return item


def close(actor: Actor, item_id: int, *, note: str) -> BillItem:
    """Close it unresolved, with a note. It reopens by itself when either side changes."""
    actor.require(Permission.PLATFORM_RECHARGE)
    cleaned = note.strip()
    if not 1 <= len(cleaned) <= NOTE_MAX:
        raise Invalid.field("note", _("Say in up to 300 characters how it was settled."))
    with transaction.atomic():
        reconciliation.locked_day(_item(item_id).day)  # before its items, as everybody does
        item = BillItem.objects.select_for_update().get(pk=item_id)
        if not item.is_open:
            raise Conflict(_("It is settled already."))
        item.note, item.closed_at, item.closed_by_id = cleaned, db_now(), actor.person()
        item.save(update_fields=["note", "closed_at", "closed_by"])
        items.log(actor, item, "closed", before={"outcome": item.outcome}, after={"note": cleaned})
        reconciliation.conclude(actor, item.day)
    return item


def _item(item_id: int) -> BillItem:
    rows = BillItem.objects.select_related("order", "refund__order", "organisation")
    found: BillItem | None = rows.filter(pk=item_id).first()
    if found is None:
        raise NotFound
    return found


def _trade(item: BillItem) -> Trade | None:
    try:
        return orders.client().query(item.out_trade_no)
    except OutcomeUnknown as unknown:
        raise orders.no_answer() from unknown
    except Refused as refusal:
        raise Conflict(_("Alipay refuses: %(words)s") % {"words": str(refusal)}) from refusal


def _paid(item: BillItem) -> Trade:
    """The payment as the gateway confirms it."""
    trade = _trade(item)
    if trade is None:
        raise Conflict(_("Alipay knows no payment with this number."))
    if trade.status not in orders.PAID_WORDS:
        words = _("Alipay does not confirm it as paid (%(status)s).") % {"status": trade.status}
        raise Conflict(words, hint=_("A payment that was given back whole is closed there: close it with a note."))
    if trade.total_fen != item.theirs_fen:
        raise Conflict(_("Alipay says %(amount)s, its bill another amount.") % {"amount": yuan(trade.total_fen)})
    return trade


def _refunded(item: BillItem) -> int | None:
    try:
        return orders.client().refunded(item.out_trade_no, _number_to_ask(item))
    except (OutcomeUnknown, Refused) as error:
        raise orders.no_answer() from error


def _number_to_ask(item: BillItem) -> str:
    """A refund that was made without a number is known to Alipay by its payment's."""
    return item.out_trade_no if _has_no_number(item) else item.out_request_no


def _has_no_number(item: BillItem) -> bool:
    return item.paid_at is not None and item.out_request_no == number_by_time(item.paid_at)


def _refuse_a_second_without_a_number(item: BillItem) -> None:
    """Alipay confirms only one such refund of a payment, so its answer must not count for two."""
    if not _has_no_number(item):
        return
    rows = BillItem.objects.filter(kind=BillItemKind.REFUND, out_trade_no=item.out_trade_no, ours_fen__isnull=False)
    if any(_has_no_number(other) for other in rows.exclude(pk=item.pk)):
        raise Conflict(
            _("Another refund of this payment without a number is booked, and Alipay confirms only one of them."),
            hint=_(
                "Nothing was changed. Agree with the organisation how the rest is settled, and close this with a "
                "note; from now on give refunds here, where each has a number."
            ),
        )


def _whose(item: BillItem, named: UUID | None) -> UUID:
    """The order's organisation, else the one in the number; staff may name one only if there is neither."""
    known: UUID | None = item.order.organisation_id if item.order else None
    whose = known or item.organisation_id or named
    if whose is None:
        lost = numbers.organisation_of(item.out_trade_no) is not None
        words = _("The organisation that paid is not in this database.") if lost else _("Whose payment is it?")
        raise Invalid.field("organisation", words)
    return whose


def _settle(trade: Trade) -> bool:
    try:
        return orders.settle(trade)
    except orders.Mismatch as error:
        raise Conflict(_("Our order is about another amount.")) from error


def _credited(actor: Actor, item_id: int) -> bool:
    """False if it is left to staff. Without an answer from the gateway the whole run ends."""
    try:
        return credit(actor, item_id).outcome == BillOutcome.MATCHED
    except Unavailable:
        raise
    except DomainError:
        return False
