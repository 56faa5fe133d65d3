"""What stands for the path parts of exports and invoices."""

from itertools import count
from typing import Any

from apps.billing.days import billing_day
from apps.billing.export_choices import ExportFormat, ExportKind, ExportStatus
from apps.billing.invoice_choices import InvoiceKind, InvoiceState, TitleKind
from apps.billing.models import Export, Invoice, InvoiceFile, InvoiceTitle
from apps.common.clock import db_now
from tests.builders import World

NUMBERS = count(1)


def document_values(world: World, secret: str) -> dict[str, Any]:
    """The victim's title, issued invoice with its file, and export. Call inside `acting`."""
    whose = {"organisation": world.organisation}
    title = InvoiceTitle.objects.create(**whose, title_kind=TitleKind.PERSON, title=secret)
    invoice = Invoice.objects.create(
        **whose,
        title_kind=TitleKind.PERSON,
        title=secret,
        kind=InvoiceKind.ORDINARY,
        amount_fen=1,
        request_key=secret,
        state=InvoiceState.ISSUED,
        requested_by=world.alice,
        decided_at=db_now(),
        number=f"2531{next(NUMBERS):016d}",
        issued_on=billing_day(db_now()),
        issued_at=db_now(),
    )
    file = InvoiceFile.objects.create(
        **whose,
        invoice=invoice,
        name=f"{secret}.pdf",
        media_type="application/pdf",
        digest="0" * 64,
        size=1,
        content=b"%",
        uploaded_by=world.alice,
    )
    export = Export.objects.create(
        **whose,
        owner=world.alice,
        kind=ExportKind.CHARGES,
        format=ExportFormat.CSV,
        filters={"q": secret},
        language="en",
        wanted="0" * 64,
        status=ExportStatus.FAILED,
        error=secret,
    )
    return {"title_id": title.pk, "invoice_id": invoice.pk, "file_id": file.pk, "export_id": export.pk}
