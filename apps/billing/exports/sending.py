"""Sending a file piece by piece, so that its size does not matter."""

from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.utils import timezone
from django.utils.http import content_disposition_header

from apps.billing.export_choices import ExportFormat
from apps.billing.exports.selectors import piece, ready
from apps.billing.exports.writers import MEDIA_TYPES
from apps.billing.models import Export
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.common.streams import Stream


def name_of(export: Export) -> str:
    """`charges-20261101-20261130.xlsx`, or with the day on which it was asked for where no days were named."""
    days = [export.filters[name].replace("-", "") for name in ("since", "until") if name in export.filters]
    stem = "-".join([export.kind, *(days or [f"{timezone.localtime(export.created_at):%Y%m%d-%H%M}"])])
    return f"{stem}.{export.format}"


def sent(actor: Actor, export: Export) -> Stream:
    """The file of an export that `exports.selectors.ready` has let through, as a download."""
    response = Stream(
        _pieces(actor, export.pk),
        visible=lambda now: ready(now, export.pk),
        content_type=MEDIA_TYPES[ExportFormat(export.format)],
    )
    response.headers["Content-Length"] = str(export.size)
    response.headers["Content-Disposition"] = content_disposition_header(True, name_of(export)) or "attachment"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "private, no-store"
    return response


async def _pieces(actor: Actor, export_id: UUID) -> AsyncIterator[bytes]:
    number = 0
    while (content := await sync_to_async(_piece)(actor, export_id, number)) is not None:
        yield content
        number += 1


def _piece(actor: Actor, export_id: UUID, number: int) -> bytes | None:
    with acting(actor):  # the request's own scope has ended by the time that a stream is read
        return piece(export_id, number)
