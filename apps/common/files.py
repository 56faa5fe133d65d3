"""Send a file that a person made: always as a download, never as something that runs on our origin."""

import os
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from asgiref.sync import sync_to_async
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

from apps.common.actor import Actor
from apps.common.streams import Stream

CHUNK = 256 * 1024
R = TypeVar("R", bound=HttpResponseBase)


def download(descriptor: int, name: str, *, visible: Callable[[Actor], object], inline_image: bool = False) -> Stream:
    """Stream an open regular file and close it. Memory stays flat whatever its size.

    `visible` raises once the actor may not see the file any more (see `Stream`).
    `inline_image` shows a raster picture in the page; everything else is an attachment.
    """
    kind = _IMAGES.get(name.rpartition(".")[2].lower()) if inline_image else None
    response = Stream(_chunks(descriptor), visible=visible, content_type=kind or "application/octet-stream")
    response.headers["Content-Length"] = str(os.fstat(descriptor).st_size)
    return as_attachment(response, name, inline=kind is not None)


def attachment(content: bytes, name: str, media_type: str = "application/octet-stream") -> HttpResponse:
    """Send a small file that is already in memory, such as one from a database row."""
    return as_attachment(HttpResponse(content, content_type=media_type), name)


def as_attachment(response: R, name: str, *, inline: bool = False) -> R:
    """Make a response download as `name`, without caching; `inline` shows it, but never lets it run scripts."""
    response.headers["Content-Disposition"] = content_disposition_header(not inline, name) or "attachment"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response.headers["Cache-Control"] = "private, no-store"
    return response


# Raster only: an SVG is a document that can hold scripts.
_IMAGES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


def is_picture(name: str) -> bool:
    return name.rpartition(".")[2].lower() in _IMAGES


async def _chunks(descriptor: int) -> AsyncIterator[bytes]:
    read = sync_to_async(os.read, thread_sensitive=False)
    left = os.fstat(descriptor).st_size  # a file still being written must not outgrow its Content-Length
    try:
        while left > 0 and (chunk := await read(descriptor, min(CHUNK, left))):
            left -= len(chunk)
            yield chunk
    finally:
        os.close(descriptor)
