"""The files of an invoice, as they are sent."""

from django.http import HttpResponse
from django.utils.http import content_disposition_header

from apps.billing.models import InvoiceFile


def download(found: InvoiceFile) -> HttpResponse:
    """Always an attachment: what was uploaded is not shown within our origin."""
    return HttpResponse(
        bytes(found.content),
        content_type=found.media_type,
        headers={
            "Content-Disposition": content_disposition_header(True, found.name) or "attachment",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "Cache-Control": "private, no-store",
        },
    )
