"""The page of one version: what it is, what it can do, where it came from, and what uses it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.pages import say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.modelhub import selectors, services, stages, uses
from apps.modelhub.choices import Stage
from apps.modelhub.forms import CardForm
from apps.modelhub.models import ModelVersion
from apps.modelhub.showing import facts, lineage, metrics
from apps.storage import browser, jobs, sharing
from apps.storage.choices import RootKind
from apps.storage.roots import resolve
from apps.storage.views.things import submit_or_rerender

TABS = ("overview", "files")


@requires(in_organisation(Permission.MODELS_VIEW))
@require_GET
def detail(request: ActorRequest, version_id: UUID) -> HttpResponse:
    """`?tab=` chooses the tab, `?path=` a folder of its files."""
    version = selectors.version(request.actor, version_id)
    tab = request.GET.get("tab", "overview")
    context = _frame(request, version, tab if tab in TABS and version.is_ready else "overview")
    return render(request, "models/version.html", context)


def _frame(request: ActorRequest, version: ModelVersion, tab: str) -> dict[str, Any]:
    actor = request.actor
    last = None if version.is_ready else jobs.latest_job(version.pk)
    context: dict[str, Any] = {
        "version": version,
        "model": version.model,
        "tab": tab,
        "tabs": _tabs(version, tab),
        "may_manage": sharing.may_manage(actor, version.model),
        "making": last if last is not None and last.ended_at is None else None,
    }
    if tab == "files":
        root = resolve(actor, RootKind.MODEL, version.pk)
        return context | {"files": browser.context(actor, root, request.GET)}
    before = _before(version)
    used = uses.uses_of(version)
    return context | {
        "before": before,
        "uses": used,
        "metrics": metrics.compared(version, before),
        "signature": facts.signature_rows(version),
        "same_signature": before is not None and bool(version.signature) and before.signature == version.signature,
        "facts": facts.fact_rows(version),
        "columns": lineage.columns_of(actor, version, used),
        "versions": selectors.versions(version.model).prefetch_related("aliases")[:8],
        "aliases": list(version.aliases.all()),
        **_review(actor, version),
    }


def _review(actor: Actor, version: ModelVersion) -> dict[str, Any]:
    """The wish that waits, who may decide it, and what was decided before."""
    rows = list(stages.promotions_of(version)[:5])
    waiting = next((row for row in rows if row.is_open), None)
    return {
        "may_write": selectors.writable(actor).filter(pk=version.model_id).exists(),
        "waiting": waiting,
        "may_decide": waiting is not None and stages.may_decide(actor, waiting),
        "decided": [row for row in rows if not row.is_open],
        "in_production": any(alias.name == Stage.PRODUCTION for alias in version.aliases.all()),
    }


def _before(version: ModelVersion) -> ModelVersion | None:
    rows = selectors.versions(version.model).filter(number__lt=version.number, manifest__isnull=False)
    return rows.first()


def _tabs(version: ModelVersion, current: str) -> list[dict[str, Any]]:
    tabs = [{"label": _("Overview"), "url": "?tab=overview", "current": current == "overview"}]
    if version.is_ready:
        count = version.file_count
        tabs.append({"label": _("Files"), "url": "?tab=files", "current": current == "files", "count": count})
    return tabs


@requires(in_organisation(Permission.MODELS_USE))
@require_http_methods(["GET", "POST"])
def delete(request: ActorRequest, version_id: UUID) -> HttpResponse:
    """A dialog that names what uses it, then the deed."""
    version = selectors.version(request.actor, version_id)
    sharing.require_manage(request.actor, version.model)
    if request.method != "POST":
        return render(request, "components/confirm_body.html", _delete_words(version))
    model_id = version.model_id
    try:
        services.delete_version(request.actor, version)
    except DomainError as error:
        say_refusal(request, error)
        return redirect("models:version", version_id)
    messages.success(request, _("The version is gone."))
    return redirect("models:model", model_id)


@requires(in_organisation(Permission.MODELS_USE))
@require_http_methods(["GET", "POST"])
def card(request: ActorRequest, version_id: UUID) -> HttpResponse:
    """Write the model card."""
    version = selectors.version(request.actor, version_id)
    selectors.get_writable(request.actor, version.model_id)
    context = {"version": version, "model": version.model}
    if request.method != "POST":
        return render(request, "models/card.html", {**context, "form": CardForm(initial={"card": version.card})})
    form = CardForm(request.POST)

    def do() -> HttpResponse:
        services.write_card(request.actor, version, form.cleaned_data["card"])
        messages.success(request, _("Saved."))
        return redirect("models:version", version.pk)

    return submit_or_rerender(request, form, "models/card.html", context, do)


def _delete_words(version: ModelVersion) -> dict[str, Any]:
    used = uses.uses_of(version)
    names = ", ".join(str(use) for use in used)
    return {
        "title": _("Delete %(version)s for good?") % {"version": version},
        "text": _("It is used by: %(uses)s.") % {"uses": names} if names else "",
        "lost": _("Its files and what is known of them; its number is not given again"),
        "undo": _("No"),
        "button": _("Delete for good"),
        "must_equal": str(version),
        "action": reverse("models:delete_version", args=[version.pk]),
    }
