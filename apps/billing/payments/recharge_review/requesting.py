"""What one person may do alone is done at once; of anything more a request is written for a second person."""

from dataclasses import replace
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.billing.choices import RechargeKind, RequestState, TransferKind
from apps.billing.models import RechargeRequest, TopUpRefund, Transfer, Voucher
from apps.billing.organisations import find_organisation
from apps.billing.payments.alipay import refunds
from apps.billing.payments.recharge_review.records import log, spec_of, words_of
from apps.billing.payments.settings import PaymentSettings
from apps.billing.recharges.services import check_payment, top_up
from apps.billing.vouchers.services import granted_as, issue_voucher
from apps.billing.vouchers.terms import VoucherSpec, check_terms
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.common.text import check_visible
from apps.notifications.services import notify_platform
from apps.tenants import settings


def needs_second(amount_fen: int) -> bool:
    """Whether one person alone may not record a payment of this much, nor give it back or away."""
    return amount_fen > alone_fen()


def alone_fen() -> int:
    return settings.get(PaymentSettings).alone_fen


def recharge(
    actor: Actor, *, organisation_id: UUID, amount_fen: int, reference: str, note: str = ""
) -> Transfer | RechargeRequest:
    """Record a payment: credited at once, or asked for where it needs a second person.

    The same reference and amount again is the same recharge or request; another amount is a `Conflict`. Of calls at
    the same time one gets a recharge that `is_new`.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    reference, note = check_visible(reference.strip(), "reference"), note.strip()
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


def grant(actor: Actor, *, organisation_id: UUID, spec: VoucherSpec, key: str) -> Voucher | RechargeRequest:
    """Grant a voucher: at once, or asked for where it needs a second person.

    The same key again is the same voucher or request, whatever became of it; with other terms it is a `Conflict`.
    Raises `Invalid` with the field.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    known = _asked_voucher(organisation_id, key)
    if known:
        return _same_voucher(known, spec)
    if granted_as(organisation_id, key) or not needs_second(spec.amount_fen):
        return issue_voucher(actor, organisation_id=organisation_id, spec=spec, key=key)
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
            log(actor, wanted, "asked", after=words_of(wanted))
            notify_platform(
                permission=Permission.PLATFORM_RECHARGE,
                kind="recharge.asked",
                data={**words_of(wanted), "request": str(wanted.pk), "person": actor.label},
                dedup=f"recharge_request:{wanted.pk}",
            )
    except IntegrityError as error:
        return _first(wanted, error)
    return wanted


def _first(wanted: RechargeRequest, error: IntegrityError) -> RechargeRequest:
    """The request of a press before this one, where it asked for the same."""
    if wanted.kind == RechargeKind.REVERSAL:
        raise Conflict(_("Its reversal has been asked for already.")) from error
    if wanted.kind == RechargeKind.REFUND:
        return _same_refund(wanted, error)
    if wanted.kind == RechargeKind.VOUCHER:
        return _same_voucher(_asked_voucher(wanted.organisation_id, wanted.reference), spec_of(wanted))
    known = _pending(wanted.organisation_id, wanted.reference)
    if known is None or known.amount_fen != wanted.amount_fen:
        raise Conflict(_("This reference has already been used for another movement.")) from error
    return known


def _same_refund(wanted: RechargeRequest, error: IntegrityError) -> RechargeRequest:
    """A second press finds the first one's request."""
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
