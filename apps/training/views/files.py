"""Files of a run: its log as a whole, what it wrote."""

from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.http.response import content_disposition_header
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.files import download, is_picture
from apps.common.permissions import Permission
from apps.training import selectors
from apps.workloads import selectors as workloads
from apps.workloads.models import Attempt

VIEW = in_organisation(Permission.TRAINING_VIEW)
CHUNK = 256 * 1024


@requires(VIEW)
@require_GET
def output(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """`?path=` names the file; `?show=1` lets the page show a picture."""
    run = selectors.get(request.actor, run_id)
    path = request.GET.get("path", "")
    name = path.rpartition("/")[2]
    show = "show" in request.GET and is_picture(name)
    return download(selectors.open_output(run, path), name, inline_image=show)


@requires(VIEW)
@require_GET
def log(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """The whole log of the newest attempt, or of `?attempt=`."""
    run = selectors.get(request.actor, run_id)
    number = request.GET.get("attempt", "")
    attempts = workloads.attempts(run.workload)
    chosen = [a for a in attempts if str(a.number) == number] or attempts[:1]
    response = StreamingHttpResponse(_log(chosen[0] if chosen else None), content_type="text/plain; charset=utf-8")
    response.headers["Content-Disposition"] = content_disposition_header(True, f"{run.name}-v{run.version}.log") or ""
    response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response


async def _log(attempt: Attempt | None) -> AsyncIterator[bytes]:
    read = sync_to_async(workloads.log_chunk, thread_sensitive=False)
    offset = 0
    while (chunk := await read(attempt, offset=offset, limit=CHUNK)).data:
        offset = chunk.next_offset
        yield chunk.data
