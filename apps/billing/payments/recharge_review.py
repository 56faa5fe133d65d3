"""Recharges and refunds that need a second person, and reversals, which always do.

Who asked never approves: a constraint on the row says so too. Each request is decided once, under its row's lock.
"""

from collections.abc import Callable, Mapping
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.choices import AccountKind, RechargeKind, RequestState, TransferKind
from apps.billing.models import RechargeRequest, TopUpRefund, Transfer
from apps.billing.payments.alipay import refunds
from apps.billing.payments.settings import PaymentSettings
from apps.billing.services.arrears import reassess
from apps.billing.services.ledger import Posting, lock_wallet, organisation_account, platform_account, post
from apps.billing.services.recharge import check_payment, find_organisation, top_up
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform, notify_staff
from apps.tenants import settings

REASON_MAX = 500


def needs_second(amount_fen: int) -> bool:
    """Whether one person alone may not record a payment of this much, nor give it back."""
    return amount_fen > alone_fen()


def alone_fen() -> int:
    return settings.get(PaymentSettings).alone_fen


def recharge(
    actor: Actor, *, organisation_id: UUID, amount_fen: int, reference: str, note: str = ""
) -> Transfer | RechargeRequest:
    """Record a payment: credited at once, or asked for where it needs a second person.

    The same reference and amount again is the same recharge or request; another amount is a `Conflict`.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    reference, note = reference.strip(), note.strip()
    check_payment(amount_fen, reference, note)
    credited: Transfer | None = Transfer.objects.filter(idem=_key(organisation_id, reference)).first()
    pending = _pending(organisation_id, reference)
    if pending is not None and pending.amount_fen != amount_fen:
        raise Conflict(_("This reference has already been used for another movement."))
    if pending is not None:
        return pending
    if credited is not None or not needs_second(amount_fen):
        return top_up(actor, organisation_id=organisation_id, amount_fen=amount_fen, reference=reference, note=note)
    return _ask(
        actor,
        RechargeRequest(
            organisation=find_organisation(organisation_id),
            kind=RechargeKind.RECHARGE,
            amount_fen=amount_fen,
            reference=reference,
            note=note,
            requested_by_id=actor.person(),
        ),
    )


def ask_reversal(actor: Actor, *, transfer_id: int, reason: str) -> RechargeRequest:
    """Ask a second person to take a wrongly recorded payment out of the wallet again, whole."""
    actor.require(Permission.PLATFORM_RECHARGE)
    wrong = Transfer.objects.filter(pk=transfer_id, kind=TransferKind.TOP_UP).select_related("organisation").first()
    if wrong is None or wrong.organisation is None or not wrong.idem.startswith("topup:offline:"):
        raise NotFound
    cleaned = reason.strip()
    if not 1 <= len(cleaned) <= 300:
        raise Invalid.field("reason", _("Say in up to 300 characters what was wrong."))
    return _ask(
        actor,
        RechargeRequest(
            organisation=wrong.organisation,
            kind=RechargeKind.REVERSAL,
            amount_fen=wrong.amount_fen,
            reference=wrong.ref,
            note=cleaned,
            reverses=wrong,
            requested_by_id=actor.person(),
        ),
    )


def refund(
    actor: Actor, *, transfer_id: int, amount_fen: int, reason: str, key: str = ""
) -> TopUpRefund | RechargeRequest:
    """Give a payment by Alipay back, in whole or in part: at once, or asked for where it needs a second person.

    `NotFound` for what is no such payment; otherwise as `refunds.start` and `_ask`. The same `key` is the same refund.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    paid = Transfer.objects.filter(pk=transfer_id, kind=TransferKind.TOP_UP).select_related("organisation").first()
    order = refunds.refundable(paid) if paid is not None else None
    if paid is None or paid.organisation is None or order is None:
        raise NotFound
    cleaned = refunds.check(amount_fen, reason)
    if not needs_second(amount_fen):
        return refunds.start(actor, out_trade_no=order.out_trade_no, amount_fen=amount_fen, reason=cleaned, key=key)
    left = order.amount_fen - order.refunded_fen
    if amount_fen > left:
        raise Conflict(_("At most %(left)s of it can be given back.") % {"left": yuan(left)})
    return _ask(
        actor,
        RechargeRequest(
            organisation=paid.organisation,
            kind=RechargeKind.REFUND,
            amount_fen=amount_fen,
            reference=order.out_trade_no,
            note=cleaned,
            reverses=paid,
            requested_by_id=actor.person(),
        ),
    )


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


def _ask(actor: Actor, wanted: RechargeRequest) -> RechargeRequest:
    try:
        with transaction.atomic():
            wanted.save(force_insert=True)
            _log(actor, wanted, "asked", after=_words(wanted))
            notify_platform(
                permission=Permission.PLATFORM_RECHARGE,
                kind="recharge.asked",
                data={**_words(wanted), "request": str(wanted.pk), "person": actor.label},
                dedup=f"recharge_request:{wanted.pk}",
            )
    except IntegrityError as error:
        if wanted.kind == RechargeKind.REVERSAL:
            raise Conflict(_("Its reversal has been asked for already.")) from error
        if wanted.kind == RechargeKind.REFUND:
            return _same_refund(wanted, error)
        known = _pending(wanted.organisation_id, wanted.reference)
        if known is None or known.amount_fen != wanted.amount_fen:
            raise Conflict(_("This reference has already been used for another movement.")) from error
        return known
    return wanted


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


MOVES: Mapping[RechargeKind, Callable[[Actor, RechargeRequest], Transfer]] = {
    RechargeKind.RECHARGE: _credit,
    RechargeKind.REVERSAL: _take_back,
    RechargeKind.REFUND: _give_back,
}


def _same_refund(wanted: RechargeRequest, error: IntegrityError) -> RechargeRequest:
    """A second press finds the first one's request."""
    rows = RechargeRequest.objects.filter(kind=RechargeKind.REFUND, reverses=wanted.reverses)
    known: RechargeRequest | None = rows.filter(state=RequestState.PENDING).first()
    if known is None or known.amount_fen != wanted.amount_fen:
        raise Conflict(_("A refund of this payment waits for a second person already.")) from error
    return known


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
    after = {**_words(found), "state": state.value, "answer": found.answer}
    _log(actor, found, state.value, before={"state": RequestState.PENDING.value}, after=after)
    if state is not RequestState.WITHDRAWN:
        notify_staff(
            user_id=found.requested_by_id,
            kind=f"recharge.{state.value}",
            data={**_words(found), "request": str(found.pk), "by": actor.label, "reason": found.answer},
            dedup=f"recharge_request:{found.pk}:{state}",
        )


def _words(found: RechargeRequest) -> dict[str, object]:
    return {
        "kind": found.kind,
        "amount_fen": found.amount_fen,
        "reference": found.reference,
        "note": found.note,
        "organisation": found.organisation.name,
    }


def _log(
    actor: Actor,
    found: RechargeRequest,
    verb: str,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object],
) -> None:
    record(
        actor,
        action=f"billing.recharge.{verb}",
        target=Target("recharge", str(found.pk), found.reference),
        organisation_id=found.organisation_id,
        before=before,
        after=after,
    )


def _pending(organisation_id: UUID, reference: str) -> RechargeRequest | None:
    rows = RechargeRequest.objects.filter(
        organisation_id=organisation_id,
        reference=reference,
        kind=RechargeKind.RECHARGE,
        state=RequestState.PENDING,
    )
    found: RechargeRequest | None = rows.select_related("organisation").first()
    return found


def _key(organisation_id: UUID, reference: str) -> str:
    return f"topup:offline:{organisation_id}:{reference}"
