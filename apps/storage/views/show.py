"""One file in the page: a picture, a notebook, a table, text to read or to edit; anything else to download."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import requires
from apps.common.errors import Conflict, Denied, DomainError, Invalid
from apps.common.files import is_picture
from apps.common.middleware import says_beside
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.storage import browser, notebooks, parquet, sheets, texts
from apps.storage.roots import Root, resolve
from apps.storage.safe_open import split_path
from apps.storage.views.shared import VIEW

PAGE = "storage/files/show.html"
_CODE = {"py": "python", "ipynb": "json", "json": "json", "sh": "shell", "bash": "shell"}


@says_beside("text")
@requires(VIEW)
@require_http_methods(["GET", "POST"])
def show(request: ActorRequest, kind: str, root_id: UUID) -> HttpResponse:
    """`?path=` names the file; POST writes its text, `?raw=1` shows a notebook or a table as the text that it is."""
    path = "/".join(split_path(request.GET.get("path", "")))
    if request.method == "POST":
        return _write(request, resolve(request.actor, kind, root_id, write=True), path)
    root = resolve(request.actor, kind, root_id)
    return render(request, PAGE, _page(request, root, path) | _content(root, path, raw="raw" in request.GET))


def _page(request: ActorRequest, root: Root, path: str) -> dict[str, Any]:
    folder, _slash, name = path.rpartition("/")
    return {
        "files": browser.context(request.actor, root, {"path": folder, "page": "1"}),
        "path": path,
        "name": name,
        "code": _CODE.get(name.rpartition(".")[2].lower(), "text"),
        "is_notebook": name.lower().endswith(".ipynb"),
        "is_sheet": sheets.is_sheet(name),
    }


def _content(root: Root, path: str, *, raw: bool) -> dict[str, Any]:
    """What can be shown; `why` in words where nothing can. A file that is not there is a 404."""
    if is_picture(path):
        return {"picture": True}
    try:
        if path.lower().endswith(".ipynb") and not raw:
            return {"notebook": notebooks.read_notebook(root, path)}
        if sheets.is_sheet(path) and not raw and (sheet := sheets.read_sheet(root, path)) is not None:
            return {"sheet": sheet}
        if parquet.is_parquet(path) and (summary := parquet.read_summary(root, path)) is not None:
            return {"parquet": summary}
        return {"text": texts.read_text(root, path)}
    except Invalid as error:
        return {"why": error.message}


def _write(request: ActorRequest, root: Root, path: str) -> HttpResponse:
    if not request.actor.may(Permission.STORAGE_USE):
        raise Denied(Permission.STORAGE_USE)
    # Browsers send line ends as \r\n; a file that had none of them gets none.
    typed, lines = request.POST.get("text", ""), request.POST.get("lines", "")
    text = typed if lines == "crlf" else typed.replace("\r\n", "\n")
    encoding = request.POST.get("encoding", "utf-8")
    try:
        texts.write_text(root, path, text, etag=request.POST.get("etag") or None, encoding=encoding)
    except DomainError as error:
        shown = texts.Text(typed, encoding, request.POST.get("etag", ""))
        status = 409 if isinstance(error, Conflict) else 422
        return render(request, PAGE, {**_page(request, root, path), "text": shown, "error": error}, status=status)
    messages.success(request, _("Saved."))
    return redirect(request.get_full_path())
