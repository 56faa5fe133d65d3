"""Volumes and datasets of all organisations: the lists, and what the platform's staff may do with one."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common import bulk
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError, Invalid
from apps.common.pages import done, paged, say_refusal
from apps.common.permissions import Permission as P
from apps.console.kit.requests import StaffRequest
from apps.console.work.storage.bulk_acts import DATASETS, VOLUMES
from apps.console.work.storage.listing import ConsoleDatasetTable, ConsoleVolumeTable
from apps.storage import datasets, volumes
from apps.storage.forms import ResizeForm
from apps.storage.models import Volume
from apps.storage.tables import StorageFilter
from apps.storage.views.datasets import QUESTIONS as DATASET_QUESTIONS
from apps.storage.views.things import Question
from apps.storage.views.volumes import QUESTIONS as VOLUME_QUESTIONS

VIEW = on_platform(P.PLATFORM_STORAGE_VIEW)
MANAGE = on_platform(P.PLATFORM_STORAGE_MANAGE)
LIST = "console/storage/list.html"


def _in_bin(request: StaffRequest) -> bool:
    return request.GET.get("bin") in ("on", "true", "1")


@requires(VIEW)
@require_GET
def volume_list(request: StaffRequest) -> HttpResponse:
    rows = volumes.binned(request.actor) if _in_bin(request) else volumes.visible(request.actor)
    return _list(request, _("Volumes"), rows, ConsoleVolumeTable, VOLUMES)


@requires(MANAGE)
@require_POST
def volume_bulk(request: StaffRequest) -> HttpResponse:
    return bulk.answer(request, VOLUMES)


@requires(VIEW)
@require_GET
def dataset_list(request: StaffRequest) -> HttpResponse:
    rows = datasets.binned(request.actor) if _in_bin(request) else datasets.visible(request.actor)
    return _list(request, _("Datasets"), datasets.with_newest(rows), ConsoleDatasetTable, DATASETS)


@requires(MANAGE)
@require_POST
def dataset_bulk(request: StaffRequest) -> HttpResponse:
    return bulk.answer(request, DATASETS)


def _list(request: StaffRequest, title: str, rows: Any, table: Callable[..., Any], acts: bulk.BulkList) -> HttpResponse:
    filtered = StorageFilter(request.GET, queryset=rows, request=request)
    del filtered.form.fields["mine"]  # staff own nothing here
    offered = None if _in_bin(request) else bulk.offered(request, acts)
    shown = paged(request, table(filtered.qs, request=request, bulk=offered))
    return render(request, LIST, {"title": title, "table": shown, "filter": filtered})


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def volume_act(request: StaffRequest, volume_id: UUID, name: str) -> HttpResponse:
    """GET: the question for the dialog. POST: resize, delete (into the bin), restore or purge."""
    load = volumes.get if name in ("delete", "resize") else volumes.get_binned
    volume = load(request.actor, volume_id)
    action = reverse("console:volume_act", args=[volume.pk, name])
    if name == "resize":
        return _resize(request, volume, action)
    return _act(request, volume, VOLUME_QUESTIONS, name, action, "console:volumes")


def _resize(request: StaffRequest, volume: Volume, action: str) -> HttpResponse:
    if request.method != "POST":
        form = ResizeForm(initial={"size_mib": f"{(volume.size_mib or 0) / 1024:g}"})
        return render(request, "console/storage/resize.html", {"volume": volume, "form": form, "action": action})
    form = ResizeForm(request.POST)
    try:
        if not form.is_valid():
            raise Invalid(_("Give a size of at least 1 MiB."))
        volumes.resize(request.actor, volume, size_mib=form.cleaned_data["size_mib"])
    except DomainError as error:
        say_refusal(request, error)
        return redirect("console:volumes")
    return done(request, _("The size of %(name)s was changed.") % {"name": volume.name}, "console:volumes")


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def dataset_act(request: StaffRequest, dataset_id: UUID, name: str) -> HttpResponse:
    """GET: the question for the dialog. POST: delete (into the bin), restore or purge."""
    load = datasets.get if name == "delete" else datasets.get_binned
    dataset = load(request.actor, dataset_id)
    action = reverse("console:dataset_act", args=[dataset.pk, name])
    return _act(request, dataset, DATASET_QUESTIONS, name, action, "console:datasets")


def _act(
    request: StaffRequest, thing: Any, questions: Mapping[str, Question], name: str, action: str, back: str
) -> HttpResponse:
    question = questions.get(name)
    if question is None:
        raise Http404
    if request.method != "POST":
        return render(request, "components/confirm_body.html", {**question.words(thing), "action": action})
    try:
        question.do(request.actor, thing)
    except DomainError as error:
        say_refusal(request, error)
        return redirect(back)
    return done(request, str(question.done), back)
