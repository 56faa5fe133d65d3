"""The files of an invoice, as they are sent."""

from django.http import HttpResponse

from apps.billing.models import InvoiceFile
from apps.common.files import attachment


def download(found: InvoiceFile) -> HttpResponse:
    """Always an attachment: what was uploaded is not shown within our origin."""
    return attachment(bytes(found.content), found.name, found.media_type)
