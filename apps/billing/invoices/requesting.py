"""The organisation's side of invoices: request one and withdraw the request.

At most what was paid and has not been claimed yet can be requested. Every decision about that holds the wallet's lock,
so two simultaneous requests never exceed it together.
"""

from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.translation import gettext as _

from apps.billing.invoice_choices import InvoiceKind, InvoiceState, TitleKind
from apps.billing.invoices.selectors import headroom_of, invoice, title
from apps.billing.invoices.states import audit_values, locked, log, move
from apps.billing.ledger.services import lock_wallet
from apps.billing.models import Invoice, InvoiceTitle
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, Invalid
from apps.common.money import yuan
from apps.common.permissions import Permission
from apps.notifications.services import notify_platform

KEY_MAX, NOTE_MAX, CONTENT_MAX = 80, 300, 100
PARTY = ("title_kind", "title", "tax_number", "address", "phone", "bank", "bank_account")


@dataclass(frozen=True, slots=True)
class InvoiceRequest:
    """`key`: the same request sent twice is one."""

    title_id: UUID
    kind: InvoiceKind
    amount_fen: int
    key: str
    note: str = ""
    content: str = ""
    email: str = ""


def request_invoice(actor: Actor, *, wanted: InvoiceRequest) -> Invoice:
    """Ask for an invoice. Raises `Invalid` with the field, `Conflict` for a key that asked for something else."""
    actor.require(Permission.BILLING_TOP_UP)
    _check(wanted)
    organisation_id = actor.organisation()
    party = title(actor, wanted.title_id)
    _check_special(wanted, party)
    with transaction.atomic():
        lock_wallet(organisation_id)
        known: Invoice | None = Invoice.objects.filter(organisation_id=organisation_id, request_key=wanted.key).first()
        if known is not None:
            return _same(known, wanted, party)
        left = headroom_of(organisation_id).available_fen
        if wanted.amount_fen > left:
            raise Invalid.field("amount", _("At most %(left)s can be invoiced now.") % {"left": yuan(left)})
        return _made(actor, wanted, party)


def withdraw_invoice(actor: Actor, *, invoice_id: UUID) -> Invoice:
    """Take a request back while nobody has decided on it."""
    actor.require(Permission.BILLING_TOP_UP)
    with transaction.atomic():
        found = locked(invoice(actor, invoice_id).pk, InvoiceState.WITHDRAWN)
        columns = {"decided_at": db_now(), "decided_by_id": actor.person()}
        move(actor, found, InvoiceState.WITHDRAWN, columns)
    return found


def _check(wanted: InvoiceRequest) -> None:
    if wanted.amount_fen <= 0:
        raise Invalid.field("amount", _("The amount must be more than zero."))
    if not 1 <= len(wanted.key) <= KEY_MAX:
        raise Invalid(_("The request has no key."))
    if len(wanted.note) > NOTE_MAX:
        raise Invalid.field("note", _("At most %(count)s characters.") % {"count": NOTE_MAX})
    if len(wanted.content) > CONTENT_MAX:
        raise Invalid.field("content", _("At most %(count)s characters.") % {"count": CONTENT_MAX})
    if wanted.email:
        try:
            validate_email(wanted.email)
        except ValidationError as error:
            raise Invalid.field("email", _("This is not an e-mail address.")) from error


def _check_special(wanted: InvoiceRequest, party: InvoiceTitle) -> None:
    if wanted.kind is not InvoiceKind.SPECIAL:
        return
    if party.title_kind != TitleKind.COMPANY:
        raise Invalid.field("kind", _("Only a company can get a special invoice."))
    if not all((party.address, party.phone, party.bank, party.bank_account)):
        raise Invalid.field(
            "kind", _("A special invoice states the company's address, phone, bank and account: add them to the title.")
        )


def _same(known: Invoice, wanted: InvoiceRequest, party: InvoiceTitle) -> Invoice:
    if (known.amount_fen, known.kind, known.title) != (wanted.amount_fen, wanted.kind, party.title):
        raise Conflict(_("This request has been sent already, with other content."))
    return known


def _made(actor: Actor, wanted: InvoiceRequest, party: InvoiceTitle) -> Invoice:
    made: Invoice = Invoice.objects.create(
        organisation_id=actor.organisation(),
        kind=wanted.kind,
        amount_fen=wanted.amount_fen,
        note=wanted.note.strip(),
        content=wanted.content.strip(),
        email=wanted.email,
        request_key=wanted.key,
        requested_by_id=actor.person(),
        **{name: getattr(party, name) for name in PARTY},
    )
    log(actor, made, "requested", before=None, after={**audit_values(made), "note": made.note, "content": made.content})
    notify_platform(
        permission=Permission.PLATFORM_INVOICES_MANAGE,
        kind="invoice.requested",
        data={**audit_values(made), "person": actor.label},
        dedup=f"invoice:{made.pk}",
    )
    return made
