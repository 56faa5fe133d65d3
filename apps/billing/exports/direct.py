"""Charges as CSV for a spreadsheet, at once; what is too much for that is made in the background."""

from collections.abc import AsyncIterator
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import get_language, override
from django.views.decorators.http import require_GET

from apps.billing.consumption.forms import ConsumptionForm
from apps.billing.export_choices import ExportKind
from apps.billing.exports.sources import SOURCES, rows_of
from apps.billing.exports.wanted import ExportSpec
from apps.billing.exports.writers import MEDIA_TYPES, Sums
from apps.billing.models import Charge
from apps.billing.organisations import file_of_days
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.files import as_attachment
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.common.scoping import acting
from apps.common.spreadsheets import BOM, csv_line
from apps.common.streams import Stream, while_holding

CHUNK = 2000
# More rows than this keep a browser waiting for longer than it should.
DIRECT_ROWS = 20_000
COLUMNS = SOURCES[ExportKind.CHARGES].columns


@requires(in_organisation(Permission.BILLING_VIEW_OWN))
@require_GET
def export(request: ActorRequest) -> HttpResponseBase:
    """The charges of the days asked for, oldest first; the last row states what the page says."""
    asked = ConsumptionForm(request.GET).asked()
    wanted = ExportSpec(ExportKind.CHARGES, since=asked.since, until=asked.until, text=asked.text)
    if rows_of(request.actor, wanted)[: DIRECT_ROWS + 1].count() > DIRECT_ROWS:
        query = urlencode({"kind": wanted.kind, **wanted.filters(), "big": 1})
        return redirect(f"{reverse('billing:exports')}?{query}")
    name = file_of_days("charges", request.actor.organisation_id, asked.since, asked.until)
    response = Stream(
        _stream(request.actor, wanted, get_language() or "en"),
        visible=while_holding(request.actor, Permission.BILLING_VIEW),
        content_type=MEDIA_TYPES[wanted.format],
    )
    return as_attachment(response, name)


async def _stream(actor: Actor, wanted: ExportSpec, language: str) -> AsyncIterator[str]:
    """The response outlives the view's scope and language, so each chunk enters its own."""
    sums, last = Sums(COLUMNS), 0
    with override(language):
        yield BOM + csv_line([str(column.label) for column in COLUMNS])
    while True:
        rows = await sync_to_async(_chunk)(actor, wanted, last)
        if not rows:
            break
        last = rows[-1].pk
        yield _lines(rows, sums, language)
    with override(language):
        yield csv_line(sums.row())


def _lines(rows: list[Charge], sums: Sums, language: str) -> str:
    with override(language):
        lines = [SOURCES[ExportKind.CHARGES].cells(row) for row in rows]
    for line in lines:
        sums.add(line)
    return "".join(map(csv_line, lines))


def _chunk(actor: Actor, wanted: ExportSpec, after: int) -> list[Charge]:
    with acting(actor):
        return list(rows_of(actor, wanted).filter(pk__gt=after)[:CHUNK])
