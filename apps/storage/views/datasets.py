"""Pages of datasets: the list, making one, one dataset with its files, versions, sharing and settings."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common import bulk
from apps.common.access import requires
from apps.common.pages import paged
from apps.common.requests import ActorRequest
from apps.storage import browser, datasets, jobs, sharing
from apps.storage.bulk_acts import DATASETS
from apps.storage.choices import JobStatus, RootKind
from apps.storage.forms import DatasetForm, RenameForm, ShareForm
from apps.storage.models import Dataset, DatasetVersion
from apps.storage.owned import BIN_DAYS
from apps.storage.roots import resolve
from apps.storage.tables import DatasetTable, VersionTable
from apps.storage.views import things
from apps.storage.views.shared import USE, VIEW

TABS = ("files", "versions", "sharing", "settings")
PAGE = "storage/datasets/detail.html"
NEW = "storage/datasets/new.html"


@requires(VIEW)
@require_GET
def dataset_list(request: ActorRequest) -> HttpResponse:
    context = things.listing(
        request,
        lambda actor: datasets.with_newest(datasets.visible(actor)),
        lambda actor: datasets.with_newest(datasets.binned(actor)),
        DatasetTable,
        DATASETS,
    )
    return render(request, "storage/datasets/list.html", context)


@requires(USE)
@require_POST
def bulk_act(request: ActorRequest) -> HttpResponse:
    return bulk.answer(request, DATASETS)


@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, NEW, {"form": DatasetForm()})
    form = DatasetForm(request.POST)

    def do() -> HttpResponse:
        dataset = datasets.create(request.actor, **form.cleaned_data)
        return redirect("storage:version_new", dataset.pk)

    return things.submit_or_rerender(request, form, NEW, {}, do)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def detail(request: ActorRequest, dataset_id: UUID) -> HttpResponse:
    """`?tab=` chooses the tab, `?version=` whose files, `?path=` the folder; the settings tab posts a new name."""
    dataset = datasets.get(request.actor, dataset_id)
    tab = request.GET.get("tab", "files")
    context = frame(request, dataset, tab if tab in TABS else "files")
    if request.method != "POST":
        return render(request, PAGE, context)
    sharing.require_manage(request.actor, dataset)
    form = RenameForm(request.POST)

    def do() -> HttpResponse:
        datasets.rename(request.actor, dataset, **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect(f"{reverse('storage:dataset', args=[dataset.pk])}?tab=settings")

    return things.submit_or_rerender(request, form, PAGE, {**context, "rename": form}, do)


def frame(request: ActorRequest, dataset: Dataset, tab: str) -> dict[str, Any]:
    """What every tab shows, and what this one does."""
    actor = request.actor
    last = jobs.latest_job(dataset.pk)
    context: dict[str, Any] = {
        "dataset": dataset,
        "tab": tab,
        "tabs": _tabs(tab),
        "may_manage": sharing.may_manage(actor, dataset),
        "may_write": datasets.writable(actor).filter(pk=dataset.pk).exists(),
        "making": last if last is not None and last.ended_at is None else None,
        "failed": last if last is not None and last.status == JobStatus.FAILED else None,
    }
    if tab == "files":
        context |= _files(request, dataset)
    elif tab == "versions":
        context["table"] = paged(request, VersionTable(datasets.versions(dataset), request=request))
    elif tab == "sharing":
        form = ShareForm(thing=dataset) if context["may_manage"] else None
        context |= {"shares": sharing.shares(dataset), "form": form}
    else:
        context["rename"] = RenameForm(initial={"name": dataset.name, "note": dataset.note})
    return context


def _files(request: ActorRequest, dataset: Dataset) -> dict[str, Any]:
    """The files of the version that is asked for, or of the newest."""
    rows = datasets.versions(dataset)
    number = request.GET.get("version", "")
    wanted = rows.filter(number=int(number)) if number.isascii() and number.isdigit() and len(number) < 9 else rows
    version: DatasetVersion | None = wanted.first() or rows.first()
    if version is None:
        return {"version": None}
    root = resolve(request.actor, RootKind.VERSION, version.pk)
    return {
        "version": version,
        "versions": rows[:100],
        "files": browser.context(request.actor, root, request.GET),
    }


def _tabs(current: str) -> list[dict[str, Any]]:
    labels = {"files": _("Files"), "versions": _("Versions"), "sharing": _("Sharing"), "settings": _("Settings")}
    return [{"label": label, "url": f"?tab={tab}", "current": tab == current} for tab, label in labels.items()]


def _delete_words(dataset: Dataset) -> dict[str, Any]:
    return {
        "title": _("Delete the dataset %(name)s?") % {"name": dataset.name},
        "text": _("It goes into the bin with all of its versions. Nobody can mount or open them there."),
        "undo": _("Yes, for %(days)s days; until then it counts against the quota") % {"days": BIN_DAYS},
        "button": _("Move to the bin"),
    }


def _restore_words(dataset: Dataset) -> dict[str, Any]:
    return {
        "title": _("Restore the dataset %(name)s?") % {"name": dataset.name},
        "text": _("Its versions are as they were, and whom it was shared with sees it again."),
        "button": _("Restore"),
        "plain": True,
    }


def _purge_words(dataset: Dataset) -> dict[str, Any]:
    return {
        "title": _("Remove the dataset %(name)s for good?") % {"name": dataset.name},
        "lost": _("All of its versions"),
        "undo": _("No"),
        "button": _("Remove for good"),
        "must_equal": dataset.name,
    }


QUESTIONS = {
    "delete": things.Question(_delete_words, datasets.delete, gettext_lazy("The dataset is in the bin."), ""),
    "restore": things.Question(_restore_words, datasets.restore, gettext_lazy("The dataset is back."), ""),
    "purge": things.Question(_purge_words, datasets.purge, gettext_lazy("The dataset is gone."), "?bin=on"),
}

PAGES = things.Pages("storage:dataset", PAGE, frame, "storage:datasets", datasets.get, datasets.get_binned, QUESTIONS)


@requires(USE)
@require_POST
def share(request: ActorRequest, dataset_id: UUID) -> HttpResponse:
    return PAGES.share(request, dataset_id)


@requires(USE)
@require_POST
def unshare(request: ActorRequest, dataset_id: UUID, user_id: int) -> HttpResponse:
    return PAGES.unshare(request, dataset_id, user_id)


@requires(USE)
@require_http_methods(["GET", "POST"])
def act(request: ActorRequest, dataset_id: UUID, name: str) -> HttpResponse:
    return PAGES.act(request, dataset_id, name)
