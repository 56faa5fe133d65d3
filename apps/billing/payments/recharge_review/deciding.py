"""A second person decides: the money moves with the approval, in one transaction.

The requester never approves; a constraint on the row enforces it too. Each request is decided once, under its row's
lock.
"""

from collections.abc import Callable, Mapping
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.billing.adjustments.services import Note, post_adjustment
from apps.billing.arrears.services import reassess
from apps.billing.choices import AccountKind, RechargeKind, RequestState, TransferKind
from apps.billing.ledger.services import Posting, lock_wallet, organisation_account, platform_account, post
from apps.billing.models import PaymentProof, RechargeRequest, Transfer
from apps.billing.payments.alipay import refunds
from apps.billing.payments.deciders import check_answer, check_approval, check_denial, check_withdrawal
from apps.billing.payments.receipts import booked_elsewhere_since, lock_receipt
from apps.billing.payments.recharge_review.records import audit_values, log, spec_of
from apps.billing.recharges.services import top_up
from apps.billing.vouchers.services import issue_voucher
from apps.billing.vouchers.terms import from_today
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, NotFound
from apps.common.permissions import Permission
from apps.notifications.services import notify_organisation, notify_staff


def approve(actor: Actor, *, request_id: UUID) -> RechargeRequest:
    """Move the money. Raises `Conflict` for the requester, `InsufficientFunds` for a reversal that is not covered."""
    with transaction.atomic():
        found = _locked(actor, request_id)
        check_approval(actor, found)
        found.transfer = MOVES[RechargeKind(found.kind)](actor, found)
        _decide(actor, found, RequestState.APPROVED, "")
    return found


def deny(actor: Actor, *, request_id: UUID, answer: str) -> RechargeRequest:
    """Refuse with a reason, which the requester is told."""
    check_answer(answer)
    with transaction.atomic():
        found = _locked(actor, request_id)
        check_denial(actor, found)
        _decide(actor, found, RequestState.DENIED, answer)
    return found


def withdraw(actor: Actor, *, request_id: UUID) -> RechargeRequest:
    """Take one's own request back."""
    with transaction.atomic():
        found = _locked(actor, request_id)
        check_withdrawal(actor, found)
        _decide(actor, found, RequestState.WITHDRAWN, "")
    return found


def _credit(actor: Actor, found: RechargeRequest) -> Transfer:
    """Only with a document that proves the payment: the second person decides on what they see."""
    if not PaymentProof.objects.filter(organisation=found.organisation, reference=found.reference).exists():
        raise Conflict(
            _("No document proves this payment."), hint=_("Attach the bank slip or the contract to the request first.")
        )
    lock_receipt(found.reference)
    meanwhile = booked_elsewhere_since(found.organisation_id, found.reference, found.created_at)
    if meanwhile is not None:
        raise Conflict(
            _("This receipt was booked for %(name)s after this request was made.") % {"name": meanwhile.name},
            hint=_("Deny it. If both are right, it can be asked for again, with this in sight."),
        )
    return top_up(
        actor,
        organisation_id=found.organisation_id,
        amount_fen=found.amount_fen,
        reference=found.reference,
        note=found.note,
    )


def _take_back(actor: Actor, found: RechargeRequest) -> Transfer:
    """Take it out of the wallet; the trigger refuses what is spent or held."""
    lock_wallet(found.organisation_id)
    posting = Posting(
        debit=organisation_account(found.organisation_id, AccountKind.CASH),
        credit=platform_account(AccountKind.OFFLINE_CLEARING),
        amount_fen=found.amount_fen,
        kind=TransferKind.REFUND,
        idem=f"refund:offline:{found.pk}",
        ref=found.reference,
        note=found.note,
    )
    moved = post(actor, posting=posting)
    _tell_taken_back(found)
    reassess(actor, organisation_id=found.organisation_id, now=db_now())
    return moved


def _give_back(actor: Actor, found: RechargeRequest) -> Transfer:
    """Take it out of the wallet now; the next sweep requests the refund from Alipay under this request's number."""
    number, fen = found.reference, found.amount_fen
    made = refunds.start(actor, out_trade_no=number, amount_fen=fen, reason=found.note, key=str(found.pk))
    moved: Transfer = made.transfer
    _tell_taken_back(found)
    return moved


def _tell_taken_back(found: RechargeRequest) -> None:
    notify_organisation(
        organisation_id=found.organisation_id,
        kind="billing.taken_back",
        data={"amount_fen": found.amount_fen, "reference": found.reference, "reason": found.note},
        dedup=f"taken_back:{found.pk}",
    )


def _grant(actor: Actor, found: RechargeRequest) -> Transfer:
    """Grant it on the requested terms; if their first day is over by now, from today on."""
    spec = from_today(spec_of(found))
    if spec.valid_until < spec.valid_from:
        raise Conflict(_("Its last day is over. Deny it; another voucher can be granted."))
    made = issue_voucher(actor, organisation_id=found.organisation_id, spec=spec, key=found.reference)
    moved: Transfer = made.transfer
    return moved


def _adjust(actor: Actor, found: RechargeRequest) -> Transfer:
    return post_adjustment(
        actor,
        organisation_id=found.organisation_id,
        note=Note(RechargeKind(found.kind), found.amount_fen, found.reference, found.note),
    )


MOVES: Mapping[RechargeKind, Callable[[Actor, RechargeRequest], Transfer]] = {
    RechargeKind.RECHARGE: _credit,
    RechargeKind.REVERSAL: _take_back,
    RechargeKind.REFUND: _give_back,
    RechargeKind.VOUCHER: _grant,
    RechargeKind.CREDIT_NOTE: _adjust,
    RechargeKind.DEBIT_NOTE: _adjust,
}


def _locked(actor: Actor, request_id: UUID) -> RechargeRequest:
    actor.require(Permission.PLATFORM_RECHARGE)
    rows = RechargeRequest.objects.select_for_update(of=("self",)).select_related("organisation", "requested_by")
    found: RechargeRequest | None = rows.filter(pk=request_id).first()
    if found is None:
        raise NotFound
    if found.state != RequestState.PENDING:
        raise Conflict(_("This request has been decided already."))
    return found


def _decide(actor: Actor, found: RechargeRequest, state: RequestState, answer: str) -> None:
    found.state, found.answer = state, answer.strip()
    found.decided_at, found.decided_by_id = db_now(), actor.user_id
    found.save(update_fields=["state", "answer", "decided_at", "decided_by", "transfer"])
    after = {**audit_values(found), "state": state.value, "answer": found.answer}
    log(actor, found, state.value, before={"state": RequestState.PENDING.value}, after=after)
    if state is not RequestState.WITHDRAWN:
        notify_staff(
            user_id=found.requested_by_id,
            kind=f"recharge.{state.value}",
            data={**audit_values(found), "request": str(found.pk), "by": actor.label, "reason": found.answer},
            dedup=f"recharge_request:{found.pk}:{state}",
        )
