"""Refunds: taken out of the wallet first, then requested from Alipay under a number that never changes.

After a lost answer the outcome is unknown: the refund stays in progress and is queried, never requested again under
another number. Only a signed refusal puts the money back into the wallet.
"""

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.arrears.services import reassess
from apps.billing.choices import AccountKind, RefundStatus, TopUpStatus, TransferKind
from apps.billing.ledger.services import Posting, lock_wallet, organisation_account, platform_account, post
from apps.billing.models import TopUpOrder, TopUpRefund, Transfer
from apps.billing.payments.alipay import numbers
from apps.billing.payments.alipay.client import OutcomeUnknown, Refused
from apps.billing.payments.alipay.orders import adjust_refunded, client
from apps.billing.payments.alipay.settings import AlipaySettings
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.tenants import settings

log = logging.getLogger(__name__)
REASON_MAX = 200
ASK_AGAIN = timedelta(minutes=5)
MOST_QUERIES = 200


def start(actor: Actor, *, out_trade_no: str, amount_fen: int, reason: str, key: str = "") -> TopUpRefund:
    """Take the amount out of the wallet and plan the refund; `carry_out` asks for it.

    The same `key` again is the same refund, with another amount a `Conflict`. Raises `Invalid`, `Conflict` beyond what
    was paid, `InsufficientFunds` where it is spent or set aside.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    cleaned = check(amount_fen, reason)
    number = numbers.refund_number(out_trade_no, key)
    with transaction.atomic():
        known = _known(out_trade_no, number, amount_fen)
        if known is not None:
            return known
        order = _reserve_refund(out_trade_no, amount_fen)
        made = _take_from_wallet(actor, order, amount_fen, cleaned, number)
        made.is_new = True
        _log(actor, made, "asked", {"amount_fen": amount_fen, "reason": cleaned, "order": order.out_trade_no})
        reassess(actor, organisation_id=order.organisation_id, now=db_now())
    return made


def is_started(order: TopUpOrder, key: str) -> bool:
    """Whether the refund of this key was started already."""
    number = numbers.refund_number(order.out_trade_no, key)
    return bool(key) and TopUpRefund.objects.filter(order=order, out_request_no=number).exists()


def check(amount_fen: int, reason: str) -> str:
    """The reason without blanks around it; raises `Invalid` with the field that is wrong."""
    cleaned = reason.strip()
    if not 1 <= len(cleaned) <= REASON_MAX:
        raise Invalid.field("reason", _("Say in up to 200 characters why."))
    if amount_fen <= 0:
        raise Invalid.field("amount", _("The amount must be more than zero."))
    return cleaned


def refundable(transfer: Transfer) -> TopUpOrder | None:
    """The payment by Alipay behind an entry of the ledger; None where it is none."""
    rows = TopUpOrder.objects.filter(transfer=transfer, status=TopUpStatus.PAID)
    found: TopUpOrder | None = rows.select_related("organisation", "user").first()
    return found


def _known(out_trade_no: str, number: str, amount_fen: int) -> TopUpRefund | None:
    """The refund that has the number already; the order's wallet is locked first, so that two at once are one."""
    order: TopUpOrder | None = TopUpOrder.objects.filter(out_trade_no=out_trade_no).first()
    if order is None:
        raise NotFound
    lock_wallet(order.organisation_id)
    rows = TopUpRefund.objects.filter(order=order, out_request_no=number).select_related("order")
    known: TopUpRefund | None = rows.first()
    if known is not None and known.amount_fen != amount_fen:
        raise Conflict(_("This refund was asked for with another amount."))
    return known


def _reserve_refund(out_trade_no: str, amount_fen: int) -> TopUpOrder:
    """The order, with this much of it marked as given back, under the wallet's lock."""
    order: TopUpOrder | None = TopUpOrder.objects.filter(out_trade_no=out_trade_no).first()
    if order is None:
        raise NotFound
    lock_wallet(order.organisation_id)
    if order.status != TopUpStatus.PAID:
        raise Conflict(_("Nothing of it can be given back."))
    if not adjust_refunded(order, amount_fen):
        left = order.amount_fen - order.refunded_fen
        raise Conflict(_("At most %(left)s of it can be given back.") % {"left": yuan(left)})
    return order


def adopt(actor: Actor, *, order: TopUpOrder, out_request_no: str, amount_fen: int, reason: str) -> TopUpRefund:
    """Book a refund that Alipay has made and we know nothing of: out of the wallet, as if it had been asked for here.

    The caller has Alipay's word for the amount. The same again is the same refund. Raises as `start` does.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    with transaction.atomic():
        lock_wallet(order.organisation_id)
        known: TopUpRefund | None = TopUpRefund.objects.filter(order=order, out_request_no=out_request_no).first()
        if known is not None:
            return known
        made = _take_from_wallet(
            actor, _reserve_refund(order.out_trade_no, amount_fen), amount_fen, reason, out_request_no
        )
        _log(actor, made, "adopted", {"amount_fen": amount_fen, "reason": reason, "order": order.out_trade_no})
        done = _complete(actor, made)
        reassess(actor, organisation_id=order.organisation_id, now=db_now())
    return done


def _take_from_wallet(actor: Actor, order: TopUpOrder, amount_fen: int, reason: str, number: str) -> TopUpRefund:
    """Out of the wallet, and planned under a number of its own."""
    taken = post(
        actor,
        posting=Posting(
            debit=organisation_account(order.organisation_id, AccountKind.CASH),
            credit=platform_account(AccountKind.REFUND_CLEARING),
            amount_fen=amount_fen,
            kind=TransferKind.REFUND,
            idem=f"refund:{_name(order, number)}",
            ref=order.out_trade_no,
            note=reason,
        ),
    )
    made: TopUpRefund = TopUpRefund.objects.create(
        organisation_id=order.organisation_id,
        order=order,
        out_request_no=number,
        amount_fen=amount_fen,
        reason=reason,
        transfer=taken,
        requested_by_id=actor.person(),
        next_query_at=db_now(),
    )
    return made


def _name(order: TopUpOrder, number: str) -> str:
    """Of the refund among those of all payments: our own numbers begin with the payment's, others are told apart."""
    return number if number.startswith(order.out_trade_no) else f"{order.out_trade_no}:{number}"


def refunds(actor: Actor) -> QuerySet[TopUpRefund]:
    """Newest first."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows: QuerySet[TopUpRefund] = TopUpRefund.objects.select_related("order", "organisation", "requested_by")
    return rows.order_by("-created_at", "-pk")


def carry_out(actor: Actor, refund: TopUpRefund) -> TopUpRefund:
    """Ask Alipay for it, or what became of it. Safe to repeat: the number makes it the same refund there."""
    if refund.status != RefundStatus.ASKED:
        return refund
    order = refund.order
    gateway = client()
    try:
        known = gateway.refunded(order.out_trade_no, refund.out_request_no)
        if known is None:
            gateway.refund(order.out_trade_no, refund.out_request_no, refund.amount_fen, refund.reason)
            known = gateway.refunded(order.out_trade_no, refund.out_request_no)
    except OutcomeUnknown as unknown:
        log.info("refund %s: %s", refund.out_request_no, unknown)
        return refund
    except Refused as refusal:
        return _fail(actor, refund, f"{refusal.code}: {refusal.text}")
    if known == refund.amount_fen:
        return _complete(actor, refund)
    if known is not None:
        log.error("refund %s: the gateway gave back another amount", refund.out_request_no)
    return refund


def carry_out_due(actor: Actor, *, limit: int = 20) -> int:
    """Carry out refunds that are due; return how many were looked at."""
    if not settings.get(AlipaySettings).is_ready:
        return 0
    rows = TopUpRefund.objects.filter(next_query_at__lte=db_now()).order_by("next_query_at")
    due = [_claimed(pk) for pk in rows.values_list("pk", flat=True)[:limit]]
    for refund in due:
        if refund is not None:
            carry_out(actor, refund)
    return len(due)


def _claimed(pk: int) -> TopUpRefund | None:
    with transaction.atomic():
        now = db_now()
        rows = TopUpRefund.objects.select_for_update(skip_locked=True, of=("self",)).select_related("order")
        found: TopUpRefund | None = rows.filter(pk=pk, next_query_at__lte=now).first()
        if found is not None:
            found.queries += 1
            found.next_query_at = now + ASK_AGAIN if found.queries < MOST_QUERIES else None
            found.save(update_fields=["queries", "next_query_at"])
        return found


def _complete(actor: Actor, refund: TopUpRefund) -> TopUpRefund:
    """Given back: what waited in refund clearing leaves through the account that the payment came in by."""
    with transaction.atomic():
        locked = TopUpRefund.objects.select_for_update().get(pk=refund.pk)
        if locked.status != RefundStatus.ASKED:
            return locked
        post(
            actor,
            posting=Posting(
                debit=platform_account(AccountKind.REFUND_CLEARING),
                credit=platform_account(AccountKind.ALIPAY_CLEARING),
                amount_fen=locked.amount_fen,
                kind=TransferKind.REFUND,
                idem=f"refund:done:{_name(refund.order, locked.out_request_no)}",
                ref=locked.out_request_no,
            ),
        )
        locked.status, locked.ended_at, locked.next_query_at = RefundStatus.DONE, db_now(), None
        locked.save(update_fields=["status", "ended_at", "next_query_at"])
        _log(actor, locked, "done", {"amount_fen": locked.amount_fen})
    return locked


def _fail(actor: Actor, refund: TopUpRefund, problem: str) -> TopUpRefund:
    with transaction.atomic():
        locked = TopUpRefund.objects.select_for_update(of=("self",)).select_related("order").get(pk=refund.pk)
        if locked.status != RefundStatus.ASKED:
            return locked
        locked.returned = post(
            actor,
            posting=Posting(
                debit=platform_account(AccountKind.REFUND_CLEARING),
                credit=organisation_account(locked.organisation_id, AccountKind.CASH),
                amount_fen=locked.amount_fen,
                kind=TransferKind.CORRECTION,
                idem=f"refund:failed:{locked.out_request_no}",
                ref=locked.order.out_trade_no,
            ),
        )
        adjust_refunded(locked.order, -locked.amount_fen)
        locked.status, locked.ended_at, locked.next_query_at = RefundStatus.FAILED, db_now(), None
        locked.problem = problem[:200]
        locked.save(update_fields=["status", "ended_at", "next_query_at", "problem", "returned"])
        _log(actor, locked, "failed", {"amount_fen": locked.amount_fen, "problem": locked.problem})
        reassess(actor, organisation_id=locked.organisation_id, now=db_now())
    return locked


def _log(actor: Actor, refund: TopUpRefund, verb: str, after: dict[str, object]) -> None:
    record(
        actor,
        action=f"billing.alipay.refund_{verb}",
        target=Target("payment", refund.out_request_no, refund.out_request_no),
        organisation_id=refund.organisation_id,
        after=after,
    )
