"""Documents that prove a payment: bank slips and contracts, added and never changed."""

import hashlib
from collections.abc import Mapping
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.billing.models import PaymentProof
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.common.permissions import Permission

MAX_BYTES = 5 << 20
MOST = 10
NAME_MAX = 120
# What a file begins with, by media type: its name and its sender's word are nothing to go by.
MAGIC: Mapping[str, bytes] = {
    "application/pdf": b"%PDF-",
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
}


def proofs(actor: Actor, *, organisation_id: UUID, reference: str) -> QuerySet[PaymentProof]:
    """Documents of one payment, without their contents, oldest first."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    rows: QuerySet[PaymentProof] = PaymentProof.objects.filter(organisation_id=organisation_id, reference=reference)
    return rows.defer("content").select_related("uploaded_by")


def proof(actor: Actor, proof_id: int) -> PaymentProof:
    """One document with its content."""
    actor.require(Permission.PLATFORM_FINANCE_VIEW)
    found: PaymentProof | None = PaymentProof.objects.filter(pk=proof_id).first()
    if found is None:
        raise NotFound
    return found


def add_proof(actor: Actor, *, organisation_id: UUID, reference: str, name: str, content: bytes) -> PaymentProof:
    """Attach a PDF, PNG or JPEG to a payment. The same file again is the one that is there.

    Raises `Invalid` with field `proofs` for other kinds and for more than `MAX_BYTES`, `Conflict` beyond `MOST`.
    """
    actor.require(Permission.PLATFORM_RECHARGE)
    media_type = media_type_of(content)
    digest = hashlib.sha256(content).hexdigest()
    with transaction.atomic():
        rows = PaymentProof.objects.filter(organisation_id=organisation_id, reference=reference)
        known: PaymentProof | None = rows.filter(digest=digest).first()
        if known is not None:
            return known
        if rows.count() >= MOST:
            raise Conflict(_("A payment has at most %(count)s documents.") % {"count": MOST})
        made: PaymentProof = PaymentProof.objects.create(
            organisation_id=organisation_id,
            reference=reference,
            name=_plain(name),
            media_type=media_type,
            digest=digest,
            size=len(content),
            content=content,
            uploaded_by_id=actor.person(),
        )
        record(
            actor,
            action="billing.proof",
            target=Target("payment", reference, reference),
            organisation_id=organisation_id,
            after={"name": made.name, "sha256": digest, "size": made.size},
        )
        return made


def media_type_of(content: bytes) -> str:
    """By what the file begins with; raises `Invalid`."""
    if len(content) > MAX_BYTES:
        raise Invalid.field("proofs", _("A document has at most 5 MB."))
    found = next((media_type for media_type, magic in MAGIC.items() if content.startswith(magic)), None)
    if found is None:
        raise Invalid.field("proofs", _("Only PDF, PNG and JPEG files can be attached."))
    return found


def _plain(name: str) -> str:
    """The last part of the path, without what cannot be printed, cut in front of its end."""
    printable = "".join(letter for letter in name.replace("\\", "/").rpartition("/")[2] if letter.isprintable())
    return printable[-NAME_MAX:] or "document"
