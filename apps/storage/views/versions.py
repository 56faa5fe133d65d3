"""Making a dataset's next version, of a volume or of what is uploaded here; comparing two."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import requires
from apps.common.errors import NotFound
from apps.common.requests import ActorRequest
from apps.storage import browser, datasets, drafts, versions
from apps.storage.choices import RootKind
from apps.storage.forms import VersionForm
from apps.storage.models import Dataset, DatasetVersion
from apps.storage.roots import resolve, root_of_folder
from apps.storage.views import things
from apps.storage.views.shared import USE, VIEW

NEW = "storage/datasets/version_new.html"
PER_PAGE = 100
CHANGES = {
    "added": pgettext_lazy("difference", "Added"),
    "changed": pgettext_lazy("difference", "Changed"),
    "removed": pgettext_lazy("difference", "Removed"),
}


@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest, dataset_id: UUID) -> HttpResponse:
    """Upload here and make a version of that, or choose a folder of a volume."""
    actor = request.actor
    dataset = datasets.get_writable(actor, dataset_id)
    draft = root_of_folder(drafts.draft_of(actor, dataset))
    context = {"dataset": dataset, "files": browser.context(actor, draft, request.GET)}
    if request.method != "POST":
        form = VersionForm(actor=actor)
        return render(request, NEW, {**context, "form": form, "source": "volume" if "volume" in request.GET else ""})
    form = VersionForm(request.POST, actor=actor)
    from_volume = request.POST.get("source") == "volume"
    if from_volume:
        form.fields["volume"].required = True

    def do() -> HttpResponse:
        data = form.cleaned_data
        source = resolve(actor, RootKind.VOLUME, UUID(data["volume"])) if from_volume else draft
        versions.start(actor, dataset, source, data["path"] if from_volume else "", note=data["note"])
        messages.success(request, _("The version is being made; it appears here when it is complete."))
        return redirect(f"{reverse('storage:dataset', args=[dataset.pk])}?tab=versions")

    shown = {**context, "source": "volume" if from_volume else ""}
    return things.submit_or_rerender(request, form, NEW, shown, do)


@requires(VIEW)
@require_GET
def compare(request: ActorRequest, dataset_id: UUID) -> HttpResponse:
    """`?from=` and `?to=` are numbers of versions, `?change=` one of added, changed, removed."""
    dataset = datasets.get(request.actor, dataset_id)
    before, after = _version(request, dataset, "from"), _version(request, dataset, "to")
    counts = {name: versions.compare(before, after, name).count() for name in CHANGES}
    change = request.GET.get("change", "")
    chosen = change if change in CHANGES else next((name for name, count in counts.items() if count), "added")
    page = Paginator(versions.compare(before, after, chosen), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "dataset": dataset,
        "before": before,
        "after": after,
        "chosen": chosen,
        "page": page,
        "link": f"?from={before.number}&to={after.number}&change={chosen}",
        "tabs": [_tab(name, counts[name], before, after, chosen) for name in CHANGES],
        "versions": datasets.versions(dataset)[:100],
    }
    return render(request, "storage/datasets/compare.html", context)


def _tab(name: str, count: int, before: DatasetVersion, after: DatasetVersion, chosen: str) -> dict[str, Any]:
    url = f"?from={before.number}&to={after.number}&change={name}"
    return {"label": CHANGES[name], "url": url, "current": name == chosen, "count": count}


def _version(request: ActorRequest, dataset: Dataset, name: str) -> DatasetVersion:
    text = request.GET.get(name, "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    version = datasets.versions(dataset).filter(number=number).first()
    if version is None:
        raise NotFound
    return version
