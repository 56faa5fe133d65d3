"""Pages of models: the list, making one, one model with its versions, sharing and settings."""

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
from apps.common.access import in_organisation, requires
from apps.common.pages import paged
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.modelhub import selectors, services
from apps.modelhub.bulk_acts import MODELS
from apps.modelhub.forms import ModelForm
from apps.modelhub.models import Model
from apps.modelhub.tables import ModelTable, VersionTable
from apps.storage import sharing
from apps.storage.forms import ShareForm
from apps.storage.owned import BIN_DAYS
from apps.storage.views import things

VIEW = in_organisation(Permission.MODELS_VIEW)
USE = in_organisation(Permission.MODELS_USE)
TABS = ("versions", "sharing", "settings")
PAGE = "models/detail.html"
NEW = "models/new.html"


@requires(VIEW)
@require_GET
def model_list(request: ActorRequest) -> HttpResponse:
    context = things.listing(
        request,
        lambda actor: selectors.with_newest(selectors.models_for(actor)),
        lambda actor: selectors.with_newest(selectors.binned(actor)),
        ModelTable,
        MODELS,
    )
    return render(request, "models/list.html", context)


@requires(USE)
@require_POST
def bulk_act(request: ActorRequest) -> HttpResponse:
    return bulk.answer(request, MODELS)


@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, NEW, {"form": ModelForm()})
    form = ModelForm(request.POST)

    def do() -> HttpResponse:
        model = services.create(request.actor, **form.cleaned_data)
        return redirect("models:add_version", model.pk)

    return things.submit_or_rerender(request, form, NEW, {}, do)


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def detail(request: ActorRequest, model_id: UUID) -> HttpResponse:
    """`?tab=` chooses the tab; the settings tab posts a new name."""
    model = selectors.get(request.actor, model_id)
    tab = request.GET.get("tab", "versions")
    context = frame(request, model, tab if tab in TABS else "versions")
    if request.method != "POST":
        return render(request, PAGE, context)
    sharing.require_manage(request.actor, model)
    form = ModelForm(request.POST)

    def do() -> HttpResponse:
        services.change(request.actor, model, **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect(f"{reverse('models:model', args=[model.pk])}?tab=settings")

    return things.submit_or_rerender(request, form, PAGE, {**frame(request, model, "settings"), "settings": form}, do)


def frame(request: ActorRequest, model: Model, tab: str) -> dict[str, Any]:
    """What every tab shows, and what this one does."""
    actor = request.actor
    context: dict[str, Any] = {
        "model": model,
        "tab": tab,
        "tabs": _tabs(tab),
        "may_manage": sharing.may_manage(actor, model),
        "may_write": selectors.writable(actor).filter(pk=model.pk).exists(),
    }
    if tab == "versions":
        context["table"] = paged(request, VersionTable(selectors.versions(model), request=request))
    elif tab == "sharing":
        form = ShareForm(thing=model) if context["may_manage"] else None
        context |= {"shares": sharing.shares(model), "form": form}
    else:
        initial = {"name": model.name, "note": model.note, "open_to_all": model.open_to_all}
        context["settings"] = ModelForm(initial=initial)
    return context


def _tabs(current: str) -> list[dict[str, Any]]:
    labels = {"versions": _("Versions"), "sharing": _("Sharing"), "settings": _("Settings")}
    return [{"label": label, "url": f"?tab={tab}", "current": tab == current} for tab, label in labels.items()]


def _delete_words(model: Model) -> dict[str, Any]:
    return {
        "title": _("Delete the model %(name)s?") % {"name": model.name},
        "text": _("It goes into the bin with all of its versions. Nobody can mount or download them there."),
        "undo": _("Yes, for %(days)s days; until then it counts against the quota") % {"days": BIN_DAYS},
        "button": _("Move to the bin"),
    }


def _restore_words(model: Model) -> dict[str, Any]:
    return {
        "title": _("Restore the model %(name)s?") % {"name": model.name},
        "text": _("Its versions are as they were, and whom it was shared with sees it again."),
        "button": _("Restore"),
        "plain": True,
    }


def _purge_words(model: Model) -> dict[str, Any]:
    return {
        "title": _("Remove the model %(name)s for good?") % {"name": model.name},
        "lost": _("All of its versions"),
        "undo": _("No"),
        "button": _("Remove for good"),
        "must_equal": model.name,
    }


QUESTIONS = {
    "delete": things.Question(_delete_words, services.delete, gettext_lazy("The model is in the bin."), ""),
    "restore": things.Question(_restore_words, services.restore, gettext_lazy("The model is back."), ""),
    "purge": things.Question(_purge_words, services.purge, gettext_lazy("The model is gone."), "?bin=on"),
}

PAGES = things.Pages("models:model", PAGE, frame, "models:list", selectors.get, selectors.get_binned, QUESTIONS)


@requires(USE)
@require_POST
def share(request: ActorRequest, model_id: UUID) -> HttpResponse:
    return PAGES.share(request, model_id)


@requires(USE)
@require_POST
def unshare(request: ActorRequest, model_id: UUID, user_id: int) -> HttpResponse:
    return PAGES.unshare(request, model_id, user_id)


@requires(USE)
@require_http_methods(["GET", "POST"])
def act(request: ActorRequest, model_id: UUID, name: str) -> HttpResponse:
    return PAGES.act(request, model_id, name)
