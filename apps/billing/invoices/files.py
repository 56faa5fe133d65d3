"""The files that are an invoice: PDF, OFD or XML, added and never changed."""

import hashlib
import io
import zipfile
from collections.abc import Sequence

from django.utils.translation import gettext as _

from apps.billing.models import Invoice, InvoiceFile
from apps.common.actor import Actor
from apps.common.errors import Invalid

MAX_BYTES = 10 << 20
MOST = 5
NAME_MAX = 120
PDF, OFD, XML = "application/pdf", "application/ofd", "application/xml"
SUFFIXES = {PDF: ".pdf", OFD: ".ofd", XML: ".xml"}
# A name with its content, as it was uploaded.
Upload = tuple[str, bytes]


def media_type_of(content: bytes) -> str:
    """Media type by the file's content; its name and the sender's claim are not trusted. Raises `Invalid`."""
    if len(content) > MAX_BYTES:
        raise Invalid.field("files", _("A file has at most 10 MB."))
    if content.startswith(b"%PDF-"):
        return PDF
    if content.removeprefix(b"\xef\xbb\xbf").startswith(b"<?xml"):
        return XML
    if content.startswith(b"PK\x03\x04") and _is_ofd(content):
        return OFD
    raise Invalid.field("files", _("Only PDF, OFD and XML files are invoices."))


def _is_ofd(content: bytes) -> bool:
    """OFD (GB/T 33190-2016) is a ZIP archive with OFD.xml at its root; only the list of names is read."""
    try:
        return "OFD.xml" in zipfile.ZipFile(io.BytesIO(content)).namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def add_files(actor: Actor, found: Invoice, uploads: Sequence[Upload]) -> list[InvoiceFile]:
    """Store the files of an invoice; a file that is already stored is returned. The caller has locked the invoice."""
    there = dict(InvoiceFile.objects.filter(invoice=found).values_list("digest", "pk"))
    fresh = {hashlib.sha256(content).hexdigest(): (name, content) for name, content in uploads}
    if len(there.keys() | fresh.keys()) > MOST:
        raise Invalid.field("files", _("An invoice has at most %(count)s files.") % {"count": MOST})
    rows = [
        InvoiceFile(
            organisation_id=found.organisation_id,
            invoice=found,
            name=plain_name(name, media_type_of(content)),
            media_type=media_type_of(content),
            digest=digest,
            size=len(content),
            content=content,
            uploaded_by_id=actor.person(),
        )
        for digest, (name, content) in fresh.items()
        if digest not in there
    ]
    return list(InvoiceFile.objects.bulk_create(rows))


def plain_name(name: str, media_type: str) -> str:
    """The last part of the path without unprintable characters, with the suffix of its media type."""
    printable = "".join(letter for letter in name.replace("\\", "/").rpartition("/")[2] if letter.isprintable())
    suffix = SUFFIXES[media_type]
    stem = printable.removesuffix(suffix) or "invoice"
    return f"{stem[-(NAME_MAX - len(suffix)) :]}{suffix}"
