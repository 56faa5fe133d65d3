"""Post an adjustment: between an organisation's wallet and its revenue, so that it is on the bill of its month."""

from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing import policy
from apps.billing.arrears.services import reassess
from apps.billing.choices import NOTES, AccountKind, RechargeKind, TransferKind
from apps.billing.ledger.services import Posting, lock_wallet, organisation_account, post_once
from apps.billing.models import Transfer
from apps.billing.organisations import find_organisation
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.common.text import check_visible
from apps.notifications.services import notify_organisation
from apps.tenants.models import Organisation

NUMBER_MAX = 40
# Number and reason together are the label of a statement's line.
REASON_MAX = 110


@dataclass(frozen=True, slots=True)
class Note:
    """A credit note (`RechargeKind.CREDIT_NOTE`, into the wallet) or a debit note (out of it). `amount_fen` above zero.

    `number` names it: one number adjusts an organisation once.
    """

    kind: RechargeKind
    amount_fen: int
    number: str
    reason: str


def check_note(note: Note) -> Note:
    """The note without blanks around its texts; raises `Invalid` with the field that is wrong."""
    cleaned = replace(note, number=check_visible(note.number.strip(), "number"), reason=note.reason.strip())
    if note.kind not in NOTES:
        raise Invalid.field("kind", _("Choose a credit note or a debit note."))
    if note.amount_fen <= 0:
        raise Invalid.field("amount", _("The amount must be more than zero."))
    if note.amount_fen > policy.TOP_UP_MAX_FEN:
        limit = _("At most %(limit)s at a time.") % {"limit": yuan(policy.TOP_UP_MAX_FEN)}
        raise Invalid.field("amount", limit)
    if not 1 <= len(cleaned.number) <= NUMBER_MAX:
        raise Invalid.field("number", _("Give the note a number of up to 40 characters."))
    if not 1 <= len(cleaned.reason) <= REASON_MAX:
        raise Invalid.field("reason", _("Say in up to 110 characters why; it appears on the organisation's bill."))
    return cleaned


def post_adjustment(actor: Actor, *, organisation_id: UUID, note: Note) -> Transfer:
    """Move the money and tell the organisation; `is_new` marks the first call.

    The same number, kind and amount again is the same adjustment, else it is a `Conflict`. A debit note stops at the
    credit limit: `InsufficientFunds`. Whether the actor may do it alone is the caller's question.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    note = check_note(note)
    organisation = find_organisation(organisation_id)
    with transaction.atomic():
        lock_wallet(organisation_id)
        wallet = organisation_account(organisation_id, AccountKind.CASH)
        revenue = organisation_account(organisation_id, AccountKind.REVENUE)
        into_wallet = note.kind is RechargeKind.CREDIT_NOTE
        moved, new = post_once(
            actor,
            Posting(
                debit=revenue if into_wallet else wallet,
                credit=wallet if into_wallet else revenue,
                amount_fen=note.amount_fen,
                kind=TransferKind.ADJUSTMENT,
                idem=_key(organisation_id, note.number),
                ref=note.number,
                note=note.reason,
            ),
        )
        if new:
            _tell(actor, organisation, note, moved)
            reassess(actor, organisation_id=organisation_id, now=db_now())
        moved.is_new = new
        return moved


def _tell(actor: Actor, organisation: Organisation, note: Note, moved: Transfer) -> None:
    """The log and the organisation's people."""
    after = {"kind": note.kind.value, "amount_fen": note.amount_fen, "reference": note.number, "reason": note.reason}
    record(
        actor,
        action="billing.adjusted",
        target=Target("organisation", str(organisation.pk), organisation.name),
        organisation_id=organisation.pk,
        after={**after, "transfer": moved.pk},
    )
    notify_organisation(
        organisation_id=organisation.pk, kind="billing.adjusted", data=after, dedup=f"adjustment:{moved.pk}"
    )


def adjustment_of(organisation_id: UUID, number: str) -> Transfer | None:
    """The organisation's adjustment with this number."""
    found: Transfer | None = Transfer.objects.filter(idem=_key(organisation_id, number)).first()
    return found


def _key(organisation_id: UUID, number: str) -> str:
    return f"adjustment:{organisation_id}:{number}"
