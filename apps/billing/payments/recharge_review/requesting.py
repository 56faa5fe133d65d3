"""Do at once what one person may do alone; for anything more, write a request for a second person."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.billing.adjustments.services import Note, adjustment_of, check_note, post_adjustment
from apps.billing.change_choices import AloneKind
from apps.billing.choices import NOTES, RechargeKind, RequestState, TransferKind
from apps.billing.models import RechargeRequest, TopUpRefund, Transfer, Voucher
from apps.billing.organisations import find_organisation
from apps.billing.payments.alipay import refunds
from apps.billing.payments.alone import may_alone, note_alone
from apps.billing.payments.receipts import lock_receipt, receipt_elsewhere, receipt_written_otherwise
from apps.billing.payments.recharge_review.records import audit_values, log, spec_of
from apps.billing.recharges.services import check_payment, top_up
from apps.billing.vouchers.services import issue_voucher, voucher_by_key
from apps.billing.vouchers.terms import VoucherSpec, check_terms
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.common.text import check_visible
from apps.notifications.services import notify_platform


def recharge(
    actor: Actor, *, organisation_id: UUID, amount_fen: int, reference: str, note: str = ""
) -> Transfer | RechargeRequest:
    """Record a payment: credited at once, or requested if it needs a second person.

    That is an amount that the actor may not grant alone, and any receipt that is booked for another organisation. The
    same reference and amount again is the same recharge or request; another amount is a `Conflict`. Of simultaneous
    calls exactly one gets a recharge that `is_new`.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    reference, note = check_visible(reference.strip(), "reference"), note.strip()
    check_payment(amount_fen, reference, note)
    with transaction.atomic():
        lock_receipt(reference)
        _refuse_other_writing(organisation_id, reference)
        pending = _pending(organisation_id, reference)
        if pending is not None and pending.amount_fen != amount_fen:
            raise Conflict(_("This reference has already been used for another movement."))
        if pending is not None:
            return pending
        alone = may_alone(actor, amount_fen) and not receipt_elsewhere(organisation_id, reference)
        if alone or Transfer.objects.filter(idem=_key(organisation_id, reference)).exists():
            whose = organisation_id
            credited = top_up(actor, organisation_id=whose, amount_fen=amount_fen, reference=reference, note=note)
            if credited.is_new:
                note_alone(actor, kind=AloneKind.RECHARGE, organisation_id=organisation_id, amount_fen=amount_fen)
            return credited
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


def _refuse_other_writing(organisation_id: UUID, reference: str) -> None:
    known = receipt_written_otherwise(organisation_id, reference)
    if known is not None:
        raise Conflict(
            _("This receipt is booked for it already, written %(known)s.") % {"known": known},
            hint=_("Open that recharge, or check the reference."),
        )


def ask_reversal(actor: Actor, *, transfer_id: int, reason: str) -> RechargeRequest:
    """Ask a second person to take a wrongly recorded payment out of the wallet again, in full."""
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
    """Refund a payment by Alipay, in full or in part: at once, or requested if it needs a second person.

    Raises `NotFound` for anything but such a payment, otherwise as `refunds.start` and `_ask` do. The same `key` is the
    same refund.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    paid = Transfer.objects.filter(pk=transfer_id, kind=TransferKind.TOP_UP).select_related("organisation").first()
    order = refunds.refundable(paid) if paid is not None else None
    if paid is None or paid.organisation is None or order is None:
        raise NotFound
    cleaned = refunds.check(amount_fen, reason)
    with transaction.atomic():
        if may_alone(actor, amount_fen) or refunds.is_started(order, key):
            made = refunds.start(actor, out_trade_no=order.out_trade_no, amount_fen=amount_fen, reason=cleaned, key=key)
            if made.is_new:
                whose = paid.organisation.pk
                note_alone(actor, kind=AloneKind.REFUND, organisation_id=whose, amount_fen=amount_fen)
            return made
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


def adjust(actor: Actor, *, organisation_id: UUID, note: Note) -> Transfer | RechargeRequest:
    """Credit or debit a bill: at once, or requested if it needs a second person.

    The same number, kind and amount again is the same adjustment or request; with another of these it is a `Conflict`.
    Raises `Invalid` with the field, `InsufficientFunds` for a debit note that the wallet does not cover.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    note = check_note(note)
    known = _pending(organisation_id, note.number, NOTES)
    if known is not None and (known.kind, known.amount_fen) != (note.kind, note.amount_fen):
        raise Conflict(_("This reference has already been used for another movement."))
    if known is not None:
        return known
    with transaction.atomic():
        repeated = adjustment_of(organisation_id, note.number) is not None
        if may_alone(actor, note.amount_fen) or repeated:
            made = post_adjustment(actor, organisation_id=organisation_id, note=note)
            if not repeated:
                whose, fen = organisation_id, note.amount_fen
                note_alone(actor, kind=AloneKind.ADJUSTMENT, organisation_id=whose, amount_fen=fen)
            return made
    return _ask(
        actor,
        RechargeRequest(
            organisation=find_organisation(organisation_id),
            kind=note.kind,
            amount_fen=note.amount_fen,
            reference=note.number,
            note=note.reason,
            requested_by_id=actor.person(),
        ),
    )


def grant(actor: Actor, *, organisation_id: UUID, spec: VoucherSpec, key: str) -> Voucher | RechargeRequest:
    """Grant a voucher: at once, or requested if it needs a second person.

    The same key again returns the same voucher or request, whatever its state; with other terms it is a `Conflict`.
    Raises `Invalid` with the field.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    known = _asked_voucher(organisation_id, key)
    if known:
        return _same_voucher(known, spec)
    with transaction.atomic():
        alone = may_alone(actor, spec.amount_fen)
        repeated = voucher_by_key(organisation_id, key) is not None
        if alone or repeated:
            granted = issue_voucher(actor, organisation_id=organisation_id, spec=spec, key=key)
            if not repeated:
                whose, fen = organisation_id, spec.amount_fen
                note_alone(actor, kind=AloneKind.VOUCHER, organisation_id=whose, amount_fen=fen)
            return granted
    check_terms(spec)
    return _ask(
        actor,
        RechargeRequest(
            organisation=find_organisation(organisation_id),
            kind=RechargeKind.VOUCHER,
            amount_fen=spec.amount_fen,
            reference=key,
            note=spec.note.strip(),
            terms=spec.to_json(),
            requested_by_id=actor.person(),
        ),
    )


def _ask(actor: Actor, wanted: RechargeRequest) -> RechargeRequest:
    try:
        with transaction.atomic():
            wanted.save(force_insert=True)
            log(actor, wanted, "asked", after=audit_values(wanted))
            notify_platform(
                permission=Permission.PLATFORM_RECHARGE,
                kind="recharge.asked",
                data={**audit_values(wanted), "request": str(wanted.pk), "person": actor.label},
                dedup=f"recharge_request:{wanted.pk}",
                but=wanted.requested_by_id,
            )
    except IntegrityError as error:
        return _existing_request(wanted, error)
    return wanted


def _existing_request(wanted: RechargeRequest, error: IntegrityError) -> RechargeRequest:
    """The request of an earlier submission of the form, if it asked for the same."""
    if wanted.kind == RechargeKind.REVERSAL:
        raise Conflict(_("Its reversal has been asked for already.")) from error
    if wanted.kind == RechargeKind.REFUND:
        return _same_refund(wanted, error)
    if wanted.kind == RechargeKind.VOUCHER:
        return _same_voucher(_asked_voucher(wanted.organisation_id, wanted.reference), spec_of(wanted))
    alike = NOTES if wanted.kind in NOTES else (RechargeKind.RECHARGE,)
    known = _pending(wanted.organisation_id, wanted.reference, alike)
    if known is None or (known.kind, known.amount_fen) != (wanted.kind, wanted.amount_fen):
        raise Conflict(_("This reference has already been used for another movement.")) from error
    return known


def _same_refund(wanted: RechargeRequest, error: IntegrityError) -> RechargeRequest:
    """The request of an earlier submission of the form."""
    rows = RechargeRequest.objects.filter(kind=RechargeKind.REFUND, reverses=wanted.reverses)
    known: RechargeRequest | None = rows.filter(state=RequestState.PENDING).first()
    if known is None or known.amount_fen != wanted.amount_fen:
        raise Conflict(_("A refund of this payment waits for a second person already.")) from error
    return known


def _asked_voucher(organisation_id: UUID, key: str) -> RechargeRequest | None:
    rows = RechargeRequest.objects.filter(organisation_id=organisation_id, reference=key, kind=RechargeKind.VOUCHER)
    found: RechargeRequest | None = rows.select_related("organisation").first()
    return found


def _same_voucher(known: RechargeRequest | None, spec: VoucherSpec) -> RechargeRequest:
    if known is None or spec_of(known) != replace(spec, note=spec.note.strip(), gpu_model=spec.gpu_model.strip()):
        raise Conflict(_("This reference has already been used for another voucher."))
    return known


def _pending(
    organisation_id: UUID, reference: str, kinds: Sequence[RechargeKind] = (RechargeKind.RECHARGE,)
) -> RechargeRequest | None:
    rows = RechargeRequest.objects.filter(
        organisation_id=organisation_id,
        reference=reference,
        kind__in=kinds,
        state=RequestState.PENDING,
    )
    found: RechargeRequest | None = rows.select_related("organisation").first()
    return found


def _key(organisation_id: UUID, reference: str) -> str:
    return f"topup:offline:{organisation_id}:{reference}"
