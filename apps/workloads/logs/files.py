"""The whole log of an attempt as a file to download."""

from collections.abc import AsyncIterator, Callable

from asgiref.sync import sync_to_async

from apps.common.actor import Actor
from apps.common.files import as_attachment
from apps.common.streams import Stream
from apps.workloads.programs import Program
from apps.workloads.selectors import log_chunk

CHUNK = 256 * 1024


def log_file(program: Program | None, *, name: str, visible: Callable[[Actor], object]) -> Stream:
    """`visible` looks up whose log it is, as `Stream` asks.

    Raises `Unavailable` where its machine cannot be asked.
    """
    log_chunk(program, limit=1)  # before the answer begins, which cannot become an error any more
    return as_attachment(Stream(_chunks(program), visible=visible, content_type="text/plain; charset=utf-8"), name)


async def _chunks(program: Program | None) -> AsyncIterator[bytes]:
    read = sync_to_async(log_chunk, thread_sensitive=False)
    offset = 0
    while (chunk := await read(program, offset=offset, limit=CHUNK)).data:
        offset = chunk.next_offset
        yield chunk.data
