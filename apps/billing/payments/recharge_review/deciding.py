"""A second person decides: the money moves with the approval, in one transaction.

Who asked never approves: a constraint on the row says so too. Each request is decided once, under its row's lock.
"""

from collections.abc import Callable, Mapping
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.billing.arrears.services import reassess
from apps.billing.choices import AccountKind, RechargeKind, RequestState, TransferKind
from apps.billing.ledger.services import Posting, lock_wallet, organisation_account, platform_account, post
from apps.billing.models import RechargeRequest, Transfer
from apps.billing.payments.alipay import refunds
from apps.billing.payments.recharge_review.records import log, spec_of, words_of
from apps.billing.recharges.services import top_up
from apps.billing.vouchers.services import issue_voucher
from apps.billing.vouchers.terms import begun
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission
from apps.notifications.services import notify_staff

REASON_MAX = 500


def approve(actor: Actor, *, request_id: UUID) -> RechargeRequest:
    """Move the money. Raises `Conflict` for whoever asked, `InsufficientFunds` for a reversal that is not covered."""
    with transaction.atomic():
        found = _locked(actor, request_id)
        if found.requested_by_id == actor.person():
            raise Conflict(_("Who asked for it cannot approve it: a second person has to."))
        found.transfer = MOVES[RechargeKind(found.kind)](actor, found)
        _decide(actor, found, RequestState.APPROVED, "")
    return found


def deny(actor: Actor, *, request_id: UUID, answer: str) -> RechargeRequest:
    """Refuse with a reason, which whoever asked is told."""
    if not 1 <= len(answer.strip()) <= REASON_MAX:
        raise Invalid.field("answer", _("Say in up to 500 characters why."))
    with transaction.atomic():
        found = _locked(actor, request_id)
        if found.requested_by_id == actor.person():
            raise Conflict(_("Take your own request back instead."))
        _decide(actor, found, RequestState.DENIED, answer)
    return found


def withdraw(actor: Actor, *, request_id: UUID) -> RechargeRequest:
    """Take one's own request back."""
    with transaction.atomic():
        found = _locked(actor, request_id)
        if found.requested_by_id != actor.person():
            raise Conflict(_("Only who asked for it can take it back."))
        _decide(actor, found, RequestState.WITHDRAWN, "")
    return found


def _credit(actor: Actor, found: RechargeRequest) -> Transfer:
    return top_up(
        actor,
        organisation_id=found.organisation_id,
        amount_fen=found.amount_fen,
        reference=found.reference,
        note=found.note,
    )


def _take_back(actor: Actor, found: RechargeRequest) -> Transfer:
    """Out of the wallet, as far as it is not spent or held: the trigger refuses the rest."""
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
    reassess(actor, organisation_id=found.organisation_id, now=db_now())
    return moved


def _give_back(actor: Actor, found: RechargeRequest) -> Transfer:
    """Out of the wallet now; Alipay is asked for the refund by the next sweep, under the number of this request."""
    number, fen = found.reference, found.amount_fen
    made = refunds.start(actor, out_trade_no=number, amount_fen=fen, reason=found.note, key=str(found.pk))
    moved: Transfer = made.transfer
    return moved


def _grant(actor: Actor, found: RechargeRequest) -> Transfer:
    """With the terms that were asked for, from today on where the first day is over by now."""
    spec = begun(spec_of(found))
    if spec.valid_until < spec.valid_from:
        raise Conflict(_("Its last day is over. Deny it; another voucher can be granted."))
    made = issue_voucher(actor, organisation_id=found.organisation_id, spec=spec, key=found.reference)
    moved: Transfer = made.transfer
    return moved


MOVES: Mapping[RechargeKind, Callable[[Actor, RechargeRequest], Transfer]] = {
    RechargeKind.RECHARGE: _credit,
    RechargeKind.REVERSAL: _take_back,
    RechargeKind.REFUND: _give_back,
    RechargeKind.VOUCHER: _grant,
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
    after = {**words_of(found), "state": state.value, "answer": found.answer}
    log(actor, found, state.value, before={"state": RequestState.PENDING.value}, after=after)
    if state is not RequestState.WITHDRAWN:
        notify_staff(
            user_id=found.requested_by_id,
            kind=f"recharge.{state.value}",
            data={**words_of(found), "request": str(found.pk), "by": actor.label, "reason": found.answer},
            dedup=f"recharge_request:{found.pk}:{state}",
        )
