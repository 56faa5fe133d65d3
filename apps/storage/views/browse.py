"""The file manager: one folder at a time, the work under way, downloads."""

import json
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.common.access import requires
from apps.common.files import download as send
from apps.common.files import is_picture
from apps.common.requests import ActorRequest
from apps.storage import browser
from apps.storage.choices import JobStatus
from apps.storage.models import Job
from apps.storage.roots import resolve
from apps.storage.safe_open import open_file
from apps.storage.views.shared import VIEW
from apps.storage.zipping import zip_response


@requires(VIEW)
@require_GET
def files(request: ActorRequest, kind: str, root_id: UUID) -> HttpResponse:
    """A folder: the list alone for the file manager on a page, a page of its own for everyone else."""
    root = resolve(request.actor, kind, root_id)
    found = browser.context(request.actor, root, request.GET)
    if not request.headers.get("HX-Request") or request.headers.get("HX-History-Restore-Request"):
        return render(request, "storage/files/page.html", {"files": found})
    response = render(request, "storage/files/list_anew.html", {"files": found})
    if current := request.headers.get("HX-Current-URL"):
        here, there = urlsplit(current), _pushed(current, request)
        if there != here._replace(scheme="", netloc="", fragment="").geturl():  # a mere refresh is no step to go back
            response.headers["HX-Replace-Url" if found.search else "HX-Push-Url"] = there
    return response


def _pushed(current: str, request: ActorRequest) -> str:
    """The address of the page that holds the file manager, now with this folder."""
    parts = urlsplit(current)
    ours = ("path", "q", "sort", "page")
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name not in ours]
    query = urlencode([*kept, *((name, request.GET[name]) for name in ours if request.GET.get(name))])
    return f"{parts.path}?{query}" if query else parts.path


@requires(VIEW)
@require_GET
def work(request: ActorRequest, kind: str, root_id: UUID) -> HttpResponse:
    """Jobs on this tree. `?had=` names those that the page showed last: when one has ended, the list looks again."""
    root = resolve(request.actor, kind, root_id)
    found = browser.context(request.actor, root, {})
    response = render(request, "storage/files/jobs.html", {"files": found})
    ended = Job.objects.filter(subject_id=root.id, pk__in=_ids(request.GET.getlist("had"))).exclude(
        pk__in=[job.pk for job in found.jobs]
    )
    if told := [_words(job) for job in ended]:
        events = {"pl:files": "", "pl:toast": told[-1]}
        response.headers["HX-Trigger"] = json.dumps(events)
    return response


def _ids(texts: list[str]) -> list[UUID]:
    found = []
    for text in texts[:50]:
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return found


def _words(job: Job) -> dict[str, str]:
    if job.status == JobStatus.FAILED:
        return {"text": f"{job.title}: {job.error}", "tone": "fail"}
    if job.status == JobStatus.STOPPED:
        return {"text": _("%(title)s: cancelled.") % {"title": job.title}, "tone": "stop"}
    return {"text": _("%(title)s: done.") % {"title": job.title}, "tone": "run"}


@requires(VIEW)
@require_GET
def raw(request: ActorRequest, kind: str, root_id: UUID) -> HttpResponseBase:
    """One file as a download; with `?show=1` a raster picture for the page."""
    path = request.GET.get("path", "")
    name = path.rpartition("/")[2]
    descriptor = open_file(resolve(request.actor, kind, root_id).path, path)
    show = "show" in request.GET and is_picture(name)
    return send(descriptor, name, visible=lambda actor: resolve(actor, kind, root_id), inline_image=show)


@requires(VIEW)
@require_GET
def packed(request: ActorRequest, kind: str, root_id: UUID) -> HttpResponseBase:
    """What `?path=` names, repeatedly, as one zip; everything without one."""
    root = resolve(request.actor, kind, root_id)
    paths = request.GET.getlist("path") or [""]
    return zip_response(root.path, root.title, paths, visible=lambda actor: resolve(actor, kind, root_id))
