"""Vouchers: granted by the platform's finance staff, taken back by them, ended when their time is over.

A voucher is promotion money: granting it moves its amount from the platform's promotion account to the organisation's
voucher account, using it from there to revenue, its end what is left back to promotion. It never touches the wallet.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.billing import policy
from apps.billing.arrears.services import reassess
from apps.billing.choices import AccountKind, TransferKind, VoucherEndReason
from apps.billing.ledger.services import Posting, lock_wallet, organisation_account, platform_account, post_once
from apps.billing.models import Transfer, Voucher, VoucherEnd
from apps.billing.organisations import find_organisation
from apps.billing.rating.services import rate_organisation
from apps.billing.vouchers.terms import VoucherSpec, check_terms, columns_of
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission


def issue_voucher(actor: Actor, *, organisation_id: UUID, spec: VoucherSpec, key: str) -> Voucher:
    """Grant a voucher. The same key again is the same voucher, with other terms a Conflict.

    It pays from its first day on, for usage that has not been charged yet. Raises Invalid with the field.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    organisation = find_organisation(organisation_id)
    with transaction.atomic():
        lock_wallet(organisation_id)
        known = voucher_by_key(organisation_id, key)
        if known is not None:
            return _same(known, spec)
        check_terms(spec)
        moved = _granted(actor, organisation_id, spec, _idem(organisation_id, key))
        voucher = _write(actor, organisation_id, spec, moved)
        record(
            actor,
            action="billing.voucher.issue",
            target=Target("voucher", str(voucher.pk), organisation.name),
            organisation_id=organisation_id,
            after=_audit_values(voucher),
        )
        reassess(actor, organisation_id=organisation_id, now=db_now())
        return voucher


def voucher_by_key(organisation_id: UUID, key: str) -> Voucher | None:
    """The voucher of this key, where there is one."""
    found: Voucher | None = Voucher.objects.filter(transfer__idem=_idem(organisation_id, key)).first()
    return found


def _idem(organisation_id: UUID, key: str) -> str:
    return f"voucher:issue:{organisation_id}:{key}"


def void_voucher(actor: Actor, *, voucher_id: int, reason: str) -> Voucher:
    """Take back what is left, after charging what has been used until now. Repeating it changes nothing.

    Raises `Conflict` for a voucher of which nothing is left or whose time is over.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    if not reason.strip():
        raise Invalid.field("reason", _("Say why it is taken back."))
    voucher = _find(voucher_id)
    with transaction.atomic():
        lock_wallet(voucher.organisation_id)
        now = db_now()
        rate_organisation(actor, organisation_id=voucher.organisation_id, until=now)
        voucher.refresh_from_db()
        if voucher.voided_at is not None:
            return voucher
        if voucher.left_fen == 0 or voucher.valid_until <= now:
            raise Conflict(_("Nothing of this voucher can be taken back any more."))
        before = _audit_values(voucher)
        voucher.voided_at = now
        voucher.save(update_fields=["voided_at"])
        _end(actor, voucher, VoucherEndReason.VOIDED)
        voucher.refresh_from_db()
        _log_void(actor, voucher, before, reason.strip())
        reassess(actor, organisation_id=voucher.organisation_id, now=now)
        return voucher


def end_due_vouchers(actor: Actor, *, now: datetime | None = None) -> int:
    """Return what is left of expired vouchers, one transaction each; returns how many.

    This happens `policy.VOUCHER_SETTLES` after their end, so that usage within their time has been charged by then.
    What a correction gives back to a voucher later ends here as well.
    """
    now = now or db_now()
    rows = Voucher.objects.filter(left_fen__gt=0)
    over = rows.filter(valid_until__lte=now - policy.VOUCHER_SETTLES) | rows.filter(voided_at__isnull=False)
    ended = 0
    for voucher_id in list(over.order_by("pk").values_list("pk", flat=True)):
        ended += _end_due(actor, voucher_id)
    return ended


def _end_due(actor: Actor, voucher_id: int) -> bool:
    with transaction.atomic():
        voucher = _find(voucher_id)
        lock_wallet(voucher.organisation_id)
        voucher.refresh_from_db()
        if not voucher.left_fen:
            return False
        _end(actor, voucher, VoucherEndReason.VOIDED if voucher.voided_at else VoucherEndReason.EXPIRED)
        return True


def _end(actor: Actor, voucher: Voucher, reason: VoucherEndReason) -> None:
    """Return all that is left. The caller has locked the wallet."""
    number = VoucherEnd.objects.filter(voucher=voucher).count() + 1
    posting = Posting(
        debit=organisation_account(voucher.organisation_id, AccountKind.VOUCHER),
        credit=platform_account(AccountKind.PROMOTION),
        amount_fen=voucher.left_fen,
        kind=TransferKind.VOUCHER_END,
        idem=f"voucher:end:{voucher.pk}:{number}",
        ref=f"voucher:{voucher.pk}",
    )
    transfer, _new = post_once(actor, posting)
    VoucherEnd.objects.create(
        organisation_id=voucher.organisation_id,
        voucher=voucher,
        number=number,
        reason=reason,
        amount_fen=voucher.left_fen,
        transfer=transfer,
    )


def _granted(actor: Actor, organisation_id: UUID, spec: VoucherSpec, idem: str) -> Transfer:
    posting = Posting(
        debit=platform_account(AccountKind.PROMOTION),
        credit=organisation_account(organisation_id, AccountKind.VOUCHER),
        amount_fen=spec.amount_fen,
        kind=TransferKind.VOUCHER_ISSUE,
        idem=idem,
        note=spec.note.strip(),
    )
    return post_once(actor, posting)[0]


def _write(actor: Actor, organisation_id: UUID, spec: VoucherSpec, transfer: Transfer) -> Voucher:
    written: Voucher = Voucher.objects.create(
        organisation_id=organisation_id,
        transfer=transfer,
        left_fen=spec.amount_fen,
        issued_by=actor.label[:200],
        **columns_of(spec),
    )
    return written


def _same(known: Voucher, spec: VoucherSpec) -> Voucher:
    if any(getattr(known, name) != value for name, value in columns_of(spec).items()):
        raise Conflict(_("This reference has already been used for another voucher."))
    return known


def _find(voucher_id: int) -> Voucher:
    found: Voucher | None = Voucher.objects.select_related("organisation").filter(pk=voucher_id).first()
    if found is None:
        raise NotFound
    return found


def _audit_values(voucher: Voucher) -> dict[str, Any]:
    return {
        "amount_fen": voucher.amount_fen,
        "left_fen": voucher.left_fen,
        "scope": voucher.scope,
        "package": voucher.package_id,
        "gpu_model": voucher.gpu_model,
        "valid_from": voucher.valid_from.isoformat(),
        "valid_until": voucher.valid_until.isoformat(),
        "note": voucher.note,
    }


def _log_void(actor: Actor, voucher: Voucher, before: dict[str, Any], reason: str) -> None:
    record(
        actor,
        action="billing.voucher.void",
        target=Target("voucher", str(voucher.pk), voucher.organisation.name),
        organisation_id=voucher.organisation_id,
        before=before,
        after={**_audit_values(voucher), "reason": reason},
    )
