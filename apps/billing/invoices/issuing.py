"""The platform's side of invoices: approving, denying, issuing with number and files, voiding by a red invoice."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.billing.days import billing_day
from apps.billing.invoice_choices import InvoiceState
from apps.billing.invoices.files import Upload, add_files, media_type_of
from apps.billing.invoices.requesting import CONTENT_MAX
from apps.billing.invoices.states import locked, move
from apps.billing.invoices.tax import split
from apps.billing.models import Invoice
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Invalid
from apps.common.permissions import Permission

REASON_MAX = 500
# Fully digital invoices have 20 digits; older ones 8, with their code 18 or 20.
NUMBER = re.compile(r"[0-9]{8,20}")


@dataclass(frozen=True, slots=True)
class Issue:
    """What the tax bureau's system gave: number, day, and at least one file.

    `tax_percent` None: the rate is not recorded. `content`: what it is for as printed; None: as it was asked for.
    """

    number: str
    issued_on: date
    files: Sequence[Upload]
    tax_percent: Decimal | None = None
    content: str | None = None


def approve(actor: Actor, *, invoice_id: UUID) -> Invoice:
    """Accept the request: the invoice will be issued."""
    actor.require(Permission.PLATFORM_INVOICES_MANAGE)
    with transaction.atomic():
        found = locked(invoice_id, InvoiceState.APPROVED)
        move(actor, found, InvoiceState.APPROVED, {"decided_at": db_now(), "decided_by_id": actor.person()})
    return found


def deny(actor: Actor, *, invoice_id: UUID, answer: str) -> Invoice:
    """Refuse with a reason, which the requester is told; the amount can be invoiced again."""
    actor.require(Permission.PLATFORM_INVOICES_MANAGE)
    reason = _reason("answer", answer)
    with transaction.atomic():
        found = locked(invoice_id, InvoiceState.DENIED)
        columns = {"decided_at": db_now(), "decided_by_id": actor.person(), "answer": reason}
        move(actor, found, InvoiceState.DENIED, columns)
    return found


def issue(actor: Actor, *, invoice_id: UUID, given: Issue) -> Invoice:
    """Record that it has been issued, with its files. Raises `Invalid` with the field that is wrong."""
    actor.require(Permission.PLATFORM_INVOICES_MANAGE)
    number = _checked(given)
    try:
        with transaction.atomic():
            found = locked(invoice_id, InvoiceState.ISSUED)
            columns = {
                "number": number,
                "issued_on": given.issued_on,
                "issued_at": db_now(),
                "issued_by_id": actor.person(),
            }
            move(actor, found, InvoiceState.ISSUED, columns | _tax_and_content(found, given))
            add_files(actor, found, given.files)
    except IntegrityError as error:
        raise Invalid.field("number", _("Another invoice has this number.")) from error
    return found


def void(actor: Actor, *, invoice_id: UUID, reason: str, red_number: str = "") -> Invoice:
    """Record that a red invoice cancelled it; the amount can be invoiced again."""
    actor.require(Permission.PLATFORM_INVOICES_MANAGE)
    why, number = _reason("reason", reason), red_number.strip()
    if number and NUMBER.fullmatch(number) is None:
        raise Invalid.field("red_number", _("An invoice's number has 8 to 20 digits."))
    with transaction.atomic():
        found = locked(invoice_id, InvoiceState.VOIDED)
        columns = {
            "void_reason": why,
            "red_number": number,
            "voided_at": db_now(),
            "voided_by_id": actor.person(),
        }
        move(actor, found, InvoiceState.VOIDED, columns)
    return found


def _tax_and_content(found: Invoice, given: Issue) -> dict[str, object]:
    columns: dict[str, object] = {}
    if given.content is not None:
        columns["content"] = given.content.strip()
    if given.tax_percent is not None:
        parts = split(found.amount_fen, given.tax_percent)
        columns |= {"tax_percent": given.tax_percent, "net_fen": parts.net_fen, "tax_fen": parts.tax_fen}
    return columns


def _checked(given: Issue) -> str:
    """The validated number; raises `Invalid` with the field that is wrong."""
    if given.tax_percent is not None and not 0 <= given.tax_percent <= 100:
        raise Invalid.field("tax_percent", _("Give a rate from 0 to 100 per cent."))
    if len(given.content or "") > CONTENT_MAX:
        raise Invalid.field("content", _("At most %(count)s characters.") % {"count": CONTENT_MAX})
    number = given.number.strip()
    if NUMBER.fullmatch(number) is None:
        raise Invalid.field("number", _("An invoice's number has 8 to 20 digits."))
    if given.issued_on > billing_day(db_now()):
        raise Invalid.field("issued_on", _("This day has not come yet."))
    if not given.files:
        raise Invalid.field("files", _("Add the invoice itself, as PDF, OFD or XML."))
    for _name, content in given.files:
        media_type_of(content)
    return number


def _reason(field: str, text: str) -> str:
    cleaned = text.strip()
    if not 1 <= len(cleaned) <= REASON_MAX:
        raise Invalid.field(field, _("Say in up to 500 characters why."))
    return cleaned
