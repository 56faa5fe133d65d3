"""Sending a file piece by piece, so that its size does not matter."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qsl
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db.models import Q
from django.utils import timezone

from apps.billing.export_choices import ExportFormat
from apps.billing.exports.selectors import downloadable_export, export_part
from apps.billing.exports.writers import MEDIA_TYPES
from apps.billing.models import Export
from apps.billing.organisations import in_file_name
from apps.common.actor import Actor
from apps.common.files import as_attachment
from apps.common.scoping import acting
from apps.common.streams import Stream
from apps.tenants.models import Organisation


def file_name(export: Export) -> str:
    """`charges-Star_Lab-20261101-20261130.xlsx`: what, whose and of which days.

    Without the organisation where it covers all; with the minute at which it was asked for where no days were named.
    """
    asked = {**dict(parse_qsl(export.filters.get("query", ""))), **export.filters}
    parts = [asked.get("list") or export.kind, _organisation(export, asked.get("organisation", ""))]
    since, until = (asked.get(name, "").replace("-", "") for name in ("since", "until"))
    if since or until:
        parts += [since or "from-the-first", until or f"{timezone.localtime(export.created_at):%Y%m%d}"]
    else:
        parts.append(f"{timezone.localtime(export.created_at):%Y%m%d-%H%M}")
    return "-".join(filter(None, parts)) + f".{export.format}"


def _organisation(export: Export, asked: str) -> str:
    """Its name; empty for the platform's lists of all of them, and for a part of a name that was searched for."""
    if export.organisation is not None:
        return in_file_name(export.organisation.name)
    if not asked or "\0" in asked:
        return ""
    try:
        wanted = Q(pk=UUID(asked))
    except ValueError:
        wanted = Q(slug=asked) | Q(name__iexact=asked)
    return in_file_name(Organisation.objects.filter(wanted).values_list("name", flat=True).first() or "")


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
