"""Money in, by the platform's finance staff."""

from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.billing import policy
from apps.billing.arrears.services import reassess
from apps.billing.choices import AccountKind, TransferKind
from apps.billing.ledger.services import Posting, lock_wallet, organisation_account, platform_account, post_once
from apps.billing.models import Account, Transfer
from apps.billing.organisations import find_organisation
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.common.text import check_visible
from apps.notifications.services import notify_organisation

REFERENCE_MAX = 80


def top_up(actor: Actor, *, organisation_id: UUID, amount_fen: int, reference: str, note: str = "") -> Transfer:
    """Credit an organisation's wallet with a payment received outside the platform; `is_new` marks the first call.

    `reference` names that payment (bank slip, contract); the same reference and amount again is the same top-up,
    with another amount it is a Conflict. Work may start again as soon as this has committed.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    reference, note = check_visible(reference.strip(), "reference"), note.strip()
    check_payment(amount_fen, reference, note)
    organisation = find_organisation(organisation_id)
    with transaction.atomic():
        transfer, new = post_once(
            actor,
            Posting(
                debit=platform_account(AccountKind.OFFLINE_CLEARING),
                credit=organisation_account(organisation_id, AccountKind.CASH),
                amount_fen=amount_fen,
                kind=TransferKind.TOP_UP,
                idem=f"topup:offline:{organisation_id}:{reference}",
                ref=reference,
                note=note,
            ),
        )
        if new:
            record(
                actor,
                action="billing.top_up",
                target=Target("organisation", str(organisation_id), organisation.name),
                organisation_id=organisation_id,
                after={"amount_fen": amount_fen, "reference": reference, "note": note, "transfer": transfer.pk},
            )
            notify_organisation(
                organisation_id=organisation_id,
                kind="billing.topped_up",
                data={"amount_fen": amount_fen, "reference": reference},
                dedup=f"topup:{transfer.pk}",
            )
            reassess(actor, organisation_id=organisation_id, now=db_now())
        transfer.is_new = new
        return transfer


def set_credit_limit(actor: Actor, *, organisation_id: UUID, credit_limit_fen: int) -> None:
    """Set how far decisions may overdraw the wallet. A lower limit only affects later decisions."""
    actor.require(Permission.PLATFORM_RECHARGE)
    if not 0 <= credit_limit_fen <= policy.TOP_UP_MAX_FEN:
        raise Invalid.field("credit_limit", _limit_message())
    organisation = find_organisation(organisation_id)
    with transaction.atomic():
        wallet = lock_wallet(organisation_id)
        Account.objects.filter(pk=wallet.pk).update(credit_limit_fen=credit_limit_fen)
        record(
            actor,
            action="billing.credit_limit",
            target=Target("organisation", str(organisation_id), organisation.name),
            organisation_id=organisation_id,
            before={"credit_limit_fen": wallet.credit_limit_fen},
            after={"credit_limit_fen": credit_limit_fen},
        )
        reassess(actor, organisation_id=organisation_id, now=db_now())


def check_payment(amount_fen: int, reference: str, note: str) -> None:
    """Raise `Invalid` with the field that is wrong."""
    if amount_fen <= 0:
        raise Invalid.field("amount", _("The amount must be more than zero."))
    if amount_fen > policy.TOP_UP_MAX_FEN:
        raise Invalid.field("amount", _limit_message())
    if not reference:
        raise Invalid.field("reference", _("Name the payment: bank slip, contract or order number."))
    if len(reference) > REFERENCE_MAX:
        raise Invalid.field("reference", _("At most 80 characters."))
    if len(note) > 300:
        raise Invalid.field("note", _("At most 300 characters."))


def _limit_message() -> str:
    return str(_("At most %(limit)s at a time.")) % {"limit": yuan(policy.TOP_UP_MAX_FEN)}
