"""Charges as CSV for a spreadsheet: streamed, so that its size does not matter."""

import csv
import io
from collections.abc import AsyncIterator, Iterable
from decimal import Decimal

from asgiref.sync import sync_to_async
from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.billing import selectors as funds
from apps.billing.forms import Asked, ConsumptionForm
from apps.billing.formula import plain
from apps.billing.models import Charge
from apps.billing.selectors.spending import BILLING_ZONE
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.money import FEN_PER_YUAN
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.common.scoping import acting

CHUNK = 2000
BOM = "\ufeff"  # without it Excel reads UTF-8 as the machine's own code page
# A cell that begins with one of these is a formula to a spreadsheet, whoever wrote it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@requires(in_organisation(Permission.BILLING_VIEW_OWN))
@require_GET
def export(request: ActorRequest) -> HttpResponseBase:
    """The charges of the days asked for, oldest first; the amounts add up to what the page says."""
    asked = ConsumptionForm(request.GET).asked()
    name = f"charges-{asked.since:%Y%m%d}-{asked.until:%Y%m%d}.csv"
    return StreamingHttpResponse(
        _stream(request.actor, asked, get_language() or "en"),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _stream(actor: Actor, asked: Asked, language: str) -> AsyncIterator[str]:
    """The response outlives the view's scope and language, so each chunk enters its own."""
    with override(language):
        yield BOM + _lines([_header()])
    last = 0
    while True:
        rows = await sync_to_async(_chunk)(actor, asked, last)
        if not rows:
            return
        last = rows[-1].pk
        yield _lines(map(_row, rows))


def _chunk(actor: Actor, asked: Asked, after: int) -> list[Charge]:
    with acting(actor):
        rows = asked.narrow(funds.charges(actor, filters=asked.filters)).filter(pk__gt=after)
        return list(rows.order_by("pk")[:CHUNK])


def _header() -> list[str]:
    return [
        _("Day"),
        _("Run"),
        _("Run ID"),
        _("Member"),
        _("From"),
        _("To"),
        _("Seconds"),
        _("Replicas"),
        _("Price ¥/h"),
        _("Price version"),
        _("Exact ¥"),
        _("Charged ¥"),
        _("Key"),
    ]


def _row(charge: Charge) -> list[str]:
    session = charge.session
    return [
        charge.day.isoformat(),
        safe(session.label),
        str(session.workload_id),
        safe(session.user.username),
        f"{charge.start.astimezone(BILLING_ZONE):%Y-%m-%d %H:%M:%S}",
        f"{charge.end.astimezone(BILLING_ZONE):%Y-%m-%d %H:%M:%S}",
        _number(plain(charge.seconds)),
        str(charge.replicas),
        _number(plain(charge.rate / FEN_PER_YUAN, least=2)),
        str(charge.price_version.number),
        _number(plain(charge.exact_fen / FEN_PER_YUAN, least=2)),
        _number(plain(Decimal(charge.amount_fen) / FEN_PER_YUAN, least=2)),
        charge.key,
    ]


def _number(text: str) -> str:
    return text.replace(",", "")


def safe(text: str) -> str:
    """What people typed, with a quotation mark before anything that a spreadsheet would calculate."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _lines(rows: Iterable[list[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()
