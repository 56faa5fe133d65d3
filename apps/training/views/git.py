"""The commit of a new run: a box of the form that replaces itself."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.storage import services as storage
from apps.storage.models import Folder
from apps.training.git.confinement import program
from apps.training.git.forms import GitForm
from apps.training.git.origin import origin_of
from apps.training.git.services import fetch_code
from apps.training.views.code import likely_script, uploaded

BOX = "training/parts/git_box.html"


@requires(in_organisation(Permission.TRAINING_SUBMIT))
@require_http_methods(["GET", "POST"])
def fetch(request: ActorRequest) -> HttpResponse:
    """Fetch the commit that the form names. Responds with the box; 422 with the reason, and what was typed stays.

    GET: the empty box.
    """
    actor, script = request.actor, request.POST.get("script", "")
    if request.method == "GET":
        return render(request, BOX, git_context(GitForm(actor=actor), None, script=script))
    form = GitForm(request.POST, actor=actor)
    if form.is_valid():
        try:
            folder = fetch_code(actor, form.wanted())
        except DomainError as error:
            form.show(error)
        else:
            return render(request, BOX, git_context(form, folder, script=script))
    before = uploaded(actor, request.POST.get("git_code"))
    return render(request, BOX, git_context(form, before, script=script), status=REFUSED)


def box_later() -> dict[str, Any]:
    """Instead of `git_context`: the box is fetched when it is first seen."""
    return {"git_later": True, "git_offered": program() is not None}


def git_context(form: GitForm, folder: Folder | None, *, script: str) -> dict[str, Any]:
    """The box's context: the commit, its files, and a better entry file if the chosen one is not among them."""
    origin = origin_of(folder)
    files = storage.file_names(folder) if folder is not None and origin is not None else []
    return {
        "git": form,
        "git_offered": program() is not None,
        "git_folder": folder if origin is not None else None,
        "git_origin": origin,
        "git_files": files,
        "git_script": "" if script.strip() in files else likely_script(files),
    }
