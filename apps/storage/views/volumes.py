"""Pages of volumes: the list, making one, one volume with its files, whom it is shared with, and its settings."""

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
from apps.common.actor import Actor
from apps.common.requests import ActorRequest
from apps.storage import browser, sharing, volumes
from apps.storage.bulk_acts import VOLUMES
from apps.storage.choices import RootKind
from apps.storage.forms import RenameForm, ResizeForm, ShareForm, VolumeForm
from apps.storage.models import Volume
from apps.storage.mounted import live_mounts
from apps.storage.owned import BIN_DAYS
from apps.storage.roots import resolve
from apps.storage.tables import VolumeTable
from apps.storage.views import things
from apps.storage.views.shared import USE, VIEW
from apps.tenants.choices import Resource
from apps.tenants.selectors import own_limits

TABS = ("files", "sharing", "settings")
PAGE = "storage/volumes/detail.html"
NEW = "storage/volumes/new.html"


@requires(VIEW)
@require_GET
def volume_list(request: ActorRequest) -> HttpResponse:
    context = things.listing(request, volumes.visible, volumes.binned, VolumeTable, VOLUMES)
    return render(request, "storage/volumes/list.html", context)


@requires(USE)
@require_POST
def bulk_act(request: ActorRequest) -> HttpResponse:
    return bulk.answer(request, VOLUMES)


@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    context = {"limit": _storage_limit(request.actor)}
    if request.method != "POST":
        return render(request, NEW, {**context, "form": VolumeForm()})
    form = VolumeForm(request.POST)

    def do() -> HttpResponse:
        volume = volumes.create(request.actor, **form.cleaned_data)
        messages.success(request, _("The volume %(name)s is there.") % {"name": volume.name})
        return redirect("storage:volume", volume.pk)

    return things.submit_or_rerender(request, form, NEW, context, do)


def _storage_limit(actor: Actor) -> Any:
    return next((limit for limit in own_limits(actor) if limit.resource == Resource.STORAGE_MIB), None)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def detail(request: ActorRequest, volume_id: UUID) -> HttpResponse:
    """`?tab=` chooses the tab, `?path=` the folder; the settings tab posts `rename` or `resize`."""
    volume = volumes.get(request.actor, volume_id)
    tab = request.GET.get("tab", "files")
    context = frame(request, volume, tab if tab in TABS else "files")
    if request.method != "POST":
        return render(request, PAGE, context)
    sharing.require_manage(request.actor, volume)
    if "size_mib" in request.POST:
        return _resize(request, volume, context)
    return _rename(request, volume, context)


def frame(request: ActorRequest, volume: Volume, tab: str) -> dict[str, Any]:
    """What every tab shows, and what this one does."""
    may_manage = sharing.may_manage(request.actor, volume)
    context: dict[str, Any] = {
        "volume": volume,
        "tab": tab,
        "tabs": _tabs(tab),
        "may_manage": may_manage,
        "mounts": list(live_mounts(volume.relative_path)[:20]),
        "cells": None,
    }
    if tab == "files":
        context["files"] = browser.context(
            request.actor, resolve(request.actor, RootKind.VOLUME, volume.pk), request.GET
        )
    elif tab == "sharing":
        context |= {"shares": sharing.shares(volume), "form": ShareForm(thing=volume) if may_manage else None}
    else:
        context |= {
            "rename": RenameForm(initial={"name": volume.name, "note": volume.note}),
            "resize": ResizeForm(initial={"size_mib": f"{(volume.size_mib or 0) / 1024:g}"}),
        }
    return context


def _tabs(current: str) -> list[dict[str, Any]]:
    labels = {"files": _("Files"), "sharing": _("Sharing"), "settings": _("Settings")}
    return [{"label": label, "url": f"?tab={tab}", "current": tab == current} for tab, label in labels.items()]


def _rename(request: ActorRequest, volume: Volume, context: dict[str, Any]) -> HttpResponse:
    form = RenameForm(request.POST)

    def do() -> HttpResponse:
        volumes.rename(request.actor, volume, **form.cleaned_data)
        return _saved(request, volume)

    return things.submit_or_rerender(request, form, PAGE, {**context, "rename": form}, do)


def _resize(request: ActorRequest, volume: Volume, context: dict[str, Any]) -> HttpResponse:
    form = ResizeForm(request.POST)

    def do() -> HttpResponse:
        volumes.resize(request.actor, volume, **form.cleaned_data)
        return _saved(request, volume)

    return things.submit_or_rerender(request, form, PAGE, {**context, "resize": form}, do)


def _saved(request: ActorRequest, volume: Volume) -> HttpResponse:
    messages.success(request, _("Saved."))
    return redirect(f"{reverse('storage:volume', args=[volume.pk])}?tab=settings")


def _delete_words(volume: Volume) -> dict[str, Any]:
    return {
        "title": _("Delete the volume %(name)s?") % {"name": volume.name},
        "text": _("It goes into the bin. Nobody can mount it or open its files there."),
        "undo": _("Yes, for %(days)s days; until then it counts against the quota") % {"days": BIN_DAYS},
        "button": _("Move to the bin"),
    }


def _restore_words(volume: Volume) -> dict[str, Any]:
    return {
        "title": _("Restore the volume %(name)s?") % {"name": volume.name},
        "text": _("Its files are as they were, and whom it was shared with sees it again."),
        "button": _("Restore"),
        "plain": True,
    }


def _purge_words(volume: Volume) -> dict[str, Any]:
    return {
        "title": _("Remove the volume %(name)s for good?") % {"name": volume.name},
        "lost": _("All of its files"),
        "undo": _("No"),
        "button": _("Remove for good"),
        "must_equal": volume.name,
    }


QUESTIONS = {
    "delete": things.Question(_delete_words, volumes.delete, gettext_lazy("The volume is in the bin."), ""),
    "restore": things.Question(_restore_words, volumes.restore, gettext_lazy("The volume is back."), ""),
    "purge": things.Question(_purge_words, volumes.purge, gettext_lazy("The volume is gone."), "?bin=on"),
}

PAGES = things.Pages("storage:volume", PAGE, frame, "storage:volumes", volumes.get, volumes.get_binned, QUESTIONS)


@requires(USE)
@require_POST
def share(request: ActorRequest, volume_id: UUID) -> HttpResponse:
    return PAGES.share(request, volume_id)


@requires(USE)
@require_POST
def unshare(request: ActorRequest, volume_id: UUID, user_id: int) -> HttpResponse:
    return PAGES.unshare(request, volume_id, user_id)


@requires(USE)
@require_http_methods(["GET", "POST"])
def act(request: ActorRequest, volume_id: UUID, name: str) -> HttpResponse:
    return PAGES.act(request, volume_id, name)
