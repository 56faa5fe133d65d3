"""Files of a run: what it wrote, one folder at a time or as a download, and its log as a whole."""

from typing import Any
from uuid import UUID

from django.http import HttpResponseBase
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.files import download, is_picture
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training import selectors
from apps.training.models import Run
from apps.workloads import selectors as workloads
from apps.workloads.logs.files import log_file
from apps.workloads.programs import asked_rank

VIEW = in_organisation(Permission.TRAINING_VIEW)
MAX_SHOWN = 1000
MAX_PICTURES = 12


def output_context(run: Run, path: str) -> dict[str, Any]:
    """One folder of the outputs; `outputs` None where there is no such folder (any more)."""
    items = selectors.outputs_or_none(run, path)
    pictures = [item for item in items or () if not item.is_folder and is_picture(item.name)]
    return {
        "outputs": items[:MAX_SHOWN] if items is not None else None,
        "outputs_count": len(items or ()),
        "pictures": pictures[:MAX_PICTURES],
        "path": path,
        "crumbs": _crumbs(path),
    }


def _crumbs(path: str) -> list[dict[str, str]]:
    names = [name for name in path.split("/") if name]
    return [{"name": name, "path": "/".join(names[: number + 1])} for number, name in enumerate(names)]


@requires(VIEW)
@require_GET
def output(request: ActorRequest, run_id: UUID) -> HttpResponseBase:
    """`?path=` names the file; `?show=1` lets the page show a picture."""
    run = selectors.get(request.actor, run_id)
    path = request.GET.get("path", "")
    name = path.rpartition("/")[2]
    show = "show" in request.GET and is_picture(name)
    file = selectors.open_output(run, path)
    return download(file, name, visible=lambda actor: selectors.get(actor, run_id), inline_image=show)


@requires(VIEW)
@require_GET
def log(request: ActorRequest, run_id: UUID) -> HttpResponseBase:
    """The whole log of the newest attempt, or of `?attempt=`; of several members, that of `?rank=`."""
    run = selectors.get(request.actor, run_id)
    number = request.GET.get("attempt", "")
    attempts = workloads.attempts(run.workload)
    chosen = [a for a in attempts if str(a.number) == number] or attempts[:1]
    rank = asked_rank(run.workload, request.GET.get("rank", ""), chosen[0] if chosen else None)
    part = f"-rank{rank}" if run.workload.member_count > 1 else ""
    return log_file(
        workloads.program(chosen[0] if chosen else None, rank),
        name=f"{run.name}-v{run.version}{part}.log",
        visible=lambda actor: selectors.get(actor, run_id),
    )
