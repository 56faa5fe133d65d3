"""The whole log of an attempt as a file to download."""

from collections.abc import AsyncIterator, Callable

from asgiref.sync import sync_to_async
from django.utils.http import content_disposition_header

from apps.common.actor import Actor
from apps.common.streams import Stream
from apps.workloads.models import Attempt
from apps.workloads.selectors import log_chunk

CHUNK = 256 * 1024


def log_file(attempt: Attempt | None, *, name: str, visible: Callable[[Actor], object]) -> Stream:
    """`visible` looks up whose log it is, as `Stream` asks.

    Raises `Unavailable` where its machine cannot be asked.
    """
    log_chunk(attempt, limit=1)  # before the answer begins, which cannot become an error any more
    response = Stream(_chunks(attempt), visible=visible, content_type="text/plain; charset=utf-8")
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


async def _chunks(attempt: Attempt | None) -> AsyncIterator[bytes]:
    read = sync_to_async(log_chunk, thread_sensitive=False)
    offset = 0
    while (chunk := await read(attempt, offset=offset, limit=CHUNK)).data:
        offset = chunk.next_offset
        yield chunk.data
