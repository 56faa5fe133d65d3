"""The uploaded files of a new run: a box of the form that replaces itself."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError, Invalid
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.storage import services as storage
from apps.storage.models import Folder, FolderKind

SCRIPTS = (".py", ".sh")
USUAL = ("train", "main", "run")


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_POST
def upload(request: ActorRequest) -> HttpResponse:
    """Add `files` to the folder named by `code`, or to a new one; `clear=1` starts over. Responds with the box.

    422 with the reason if a file is refused; earlier files stay.
    """
    actor = request.actor
    folder = None if "clear" in request.POST else uploaded(actor, request.POST.get("code"))
    script = request.POST.get("script", "")
    try:
        if "clear" not in request.POST:
            folder = add_files(actor, request, folder)
    except DomainError as error:
        context = box_context(folder, script=script) | {"upload_error": error.message, "upload_hint": error.hint}
        return render(request, "training/parts/code_box.html", context, status=REFUSED)
    return render(request, "training/parts/code_box.html", box_context(folder, script=script))


def add_files(actor: Actor, request: ActorRequest, folder: Folder | None) -> Folder:
    """Put the request's files into `folder`, or into a new one if there is none or a run uses it already."""
    files = request.FILES.getlist("files")
    if not files:
        raise Invalid.field("files", _("Choose at least one file."))
    return storage.add_code(actor, None if folder is None or folder.sealed else folder, files)


def uploaded(actor: Actor, value: Any) -> Folder | None:
    """The actor's own folder of that id; None for anything else."""
    try:
        return storage.own_folder(actor, UUID(str(value)), FolderKind.CODE) if value else None
    except (ValueError, DomainError):
        return None


def box_context(folder: Folder | None, *, script: str) -> dict[str, Any]:
    """The box's context: the files, and a better entry file if the chosen one is not among them."""
    files = storage.file_names(folder) if folder else []
    return {
        "code_folder": folder,
        "code_files": files,
        "suggested_script": "" if script.strip() in files else likely_script(files),
    }


def likely_script(files: list[str]) -> str:
    """The file that is most likely meant to be run: by its usual name, else the only one there is."""
    scripts = [name for name in files if name.endswith(SCRIPTS)]
    usual = [name for stem in USUAL for name in scripts if name.rpartition("/")[2].partition(".")[0] == stem]
    return next(iter(usual or scripts), "")
