"""Sending a file piece by piece, so that its size does not matter."""

from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.utils import timezone

from apps.billing.export_choices import ExportFormat
from apps.billing.exports.selectors import downloadable_export, export_part
from apps.billing.exports.writers import MEDIA_TYPES
from apps.billing.models import Export
from apps.common.actor import Actor
from apps.common.files import as_attachment
from apps.common.scoping import acting
from apps.common.streams import Stream


def file_name(export: Export) -> str:
    """`charges-20261101-20261130.xlsx`, or with the day on which it was asked for where no days were named."""
    days = [export.filters[name].replace("-", "") for name in ("since", "until") if name in export.filters]
    kind = export.filters.get("list") or export.kind
    stem = "-".join([kind, *(days or [f"{timezone.localtime(export.created_at):%Y%m%d-%H%M}"])])
    return f"{stem}.{export.format}"


def export_response(actor: Actor, export: Export) -> Stream:
    """Download response with the file of an export that `exports.selectors.downloadable_export` has returned."""
    response = Stream(
        _pieces(actor, export.pk),
        visible=lambda now: downloadable_export(now, export.pk),
        content_type=MEDIA_TYPES[ExportFormat(export.format)],
    )
    response.headers["Content-Length"] = str(export.size)
    return as_attachment(response, file_name(export))


async def _pieces(actor: Actor, export_id: UUID) -> AsyncIterator[bytes]:
    number = 0
    while (content := await sync_to_async(_piece)(actor, export_id, number)) is not None:
        yield content
        number += 1


def _piece(actor: Actor, export_id: UUID, number: int) -> bytes | None:
    with acting(actor):  # the request's own scope has ended by the time that a stream is read
        return export_part(export_id, number)
