"""What one does with files: each act asks in a dialog, carries out on POST, and lets the list look again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from apps.common.access import requires
from apps.common.errors import DomainError
from apps.common.pages import REFUSED
from apps.common.requests import ActorRequest
from apps.storage import copying, jobs, listing, operations, texts, unpacking, uploads
from apps.storage.choices import Clash
from apps.storage.roots import Root, resolve
from apps.storage.safe_open import split_path
from apps.storage.views.shared import USE, carried_out


@dataclass(frozen=True, slots=True)
class Act:
    template: str
    do: Callable[[ActorRequest, Root], HttpResponse]


@requires(USE)
@require_http_methods(["GET", "POST"])
def act(request: ActorRequest, kind: str, root_id: UUID, name: str) -> HttpResponse:
    """`?path=` (repeatedly) names what it is about. A refusal comes back in the dialog, with what was typed."""
    found = _ACTS.get(name)
    if found is None:
        raise Http404
    root = resolve(request.actor, kind, root_id, write=True)
    if request.method != "POST":
        return render(request, found.template, _context(request, root, name))
    try:
        return found.do(request, root)
    except DomainError as error:
        context = {**_context(request, root, name), "error": error}
        return render(request, found.template, context, status=REFUSED)


def _context(request: ActorRequest, root: Root, name: str) -> dict[str, Any]:
    data = request.POST if request.method == "POST" else request.GET
    paths = [path for path in data.getlist("path") if path]
    at = data.get("at", "")
    return {
        "root": root,
        "act": name,
        "paths": paths,
        "name": split_path(paths[0])[-1] if len(paths) == 1 else "",
        "typed": data.get("name", ""),
        "at": at,
        "crumbs": _crumbs(at),
        "folders": listing.folders_of(root.path, at) if name in ("move", "copy") else [],
        "clashes": Clash.choices,
    }


def _crumbs(path: str) -> list[tuple[str, str]]:
    names = split_path(path)
    return [(name, "/".join(names[: number + 1])) for number, name in enumerate(names)]


def _folder(request: ActorRequest, root: Root) -> HttpResponse:
    operations.create_folder(root, request.POST.get("at", ""), request.POST.get("name", ""))
    return carried_out()


def _file(request: ActorRequest, root: Root) -> HttpResponse:
    name = operations.clean_entry(request.POST.get("name", ""))
    texts.write_text(root, "/".join((*split_path(request.POST.get("at", "")), name)), "", etag=None)
    return carried_out()


def _rename(request: ActorRequest, root: Root) -> HttpResponse:
    operations.rename(root, request.POST.get("path", ""), request.POST.get("name", ""))
    return carried_out()


def _move(request: ActorRequest, root: Root) -> HttpResponse:
    clash = _clash(request)
    moved = operations.move(root, request.POST.getlist("path"), request.POST.get("at", ""), clash)
    text = ngettext("%(count)s entry was moved.", "%(count)s entries were moved.", len(moved)) % {"count": len(moved)}
    return carried_out(text)


def _copy(request: ActorRequest, root: Root) -> HttpResponse:
    into = request.POST.get("at", "")
    copying.start(request.actor, root, request.POST.getlist("path"), root, into, clash=_clash(request))
    return carried_out(**{"pl:jobs": ""})


def _clash(request: ActorRequest) -> Clash:
    value = request.POST.get("clash", "")
    return Clash(value) if value in Clash.values else Clash.KEEP_BOTH


def _delete(request: ActorRequest, root: Root) -> HttpResponse:
    count = operations.delete(root, request.POST.getlist("path"))
    return carried_out(
        ngettext("%(count)s entry was deleted.", "%(count)s entries were deleted.", count) % {"count": count}
    )


def _unpack(request: ActorRequest, root: Root) -> HttpResponse:
    unpacking.start(request.actor, root, request.POST.get("path", ""))
    return carried_out(**{"pl:jobs": ""})


_ACTS: dict[str, Act] = {
    "folder": Act("storage/files/ask_name.html", _folder),
    "file": Act("storage/files/ask_name.html", _file),
    "rename": Act("storage/files/ask_name.html", _rename),
    "move": Act("storage/files/ask_place.html", _move),
    "copy": Act("storage/files/ask_place.html", _copy),
    "delete": Act("storage/files/ask_delete.html", _delete),
    "unpack": Act("storage/files/ask_unpack.html", _unpack),
}


@requires(USE)
@require_POST
def cancel_job(request: ActorRequest, job_id: UUID) -> HttpResponse:
    jobs.cancel(request.actor, jobs.get(request.actor, job_id))
    return carried_out(
        _("Cancelled. What it had replaced already stays replaced; the rest is as it was."),
        tone="stop",
        **{"pl:jobs": ""},
    )


@requires(USE)
@require_POST
def cancel_upload(request: ActorRequest, upload_id: UUID) -> HttpResponse:
    uploads.cancel(uploads.get(request.actor, upload_id))
    return carried_out()
