"""Two versions of a model beside each other: what they are, what they measure, their signatures and their files."""

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from apps.common.access import in_organisation, requires
from apps.common.errors import NotFound
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.modelhub import selectors
from apps.modelhub.models import Model, ModelVersion
from apps.modelhub.showing import facts, metrics
from apps.storage import frozen_trees
from apps.storage.views.versions import CHANGES

PER_PAGE = 100


@requires(in_organisation(Permission.MODELS_VIEW))
@require_GET
def compare(request: ActorRequest, model_id: UUID) -> HttpResponse:
    """`?from=` and `?to=` are numbers of versions, `?change=` one of added, changed, removed."""
    model = selectors.get(request.actor, model_id)
    before, after = _version(request, model, "from"), _version(request, model, "to")
    context = {
        "model": model,
        "before": before,
        "after": after,
        "versions": selectors.versions(model).filter(manifest__isnull=False)[:100],
        "metrics": metrics.compared(after, before),
        "rows": _beside(before, after),
        **_files(request, before, after),
    }
    return render(request, "models/compare.html", context)


def _beside(before: ModelVersion, after: ModelVersion) -> list[dict[str, Any]]:
    """Facts by label, then the parts of the signature by name; `differs` where the two are not the same."""
    sides = [{row["label"]: str(row["value"]) for row in facts.fact_rows(each)} for each in (before, after)]
    for values, version in zip(sides, (before, after), strict=True):
        for row in facts.signature_rows(version):
            values[f"{row['side']} {row['name']}"] = f"{row['type']} {row['shape']}"
        if version.digest:
            values[_("Digest")] = version.digest[:12]
    labels = [*sides[1], *(label for label in sides[0] if label not in sides[1])]
    return [
        {
            "label": each,
            "before": sides[0].get(each, ""),
            "after": sides[1].get(each, ""),
            "differs": _differ(sides, each),
        }
        for each in labels
    ]


def _differ(sides: list[dict[str, str]], label: str) -> bool:
    return sides[0].get(label) != sides[1].get(label)


def _files(request: ActorRequest, before: ModelVersion, after: ModelVersion) -> dict[str, Any]:
    if before.manifest is None or after.manifest is None:
        raise NotFound
    found = {name: frozen_trees.compare(before.manifest, after.manifest, name) for name in CHANGES}
    counts = {name: rows.count() for name, rows in found.items()}
    change = request.GET.get("change", "")
    chosen = change if change in CHANGES else next((name for name, count in counts.items() if count), "changed")
    address = f"?from={before.number}&to={after.number}"
    return {
        "page": Paginator(found[chosen], PER_PAGE).get_page(request.GET.get("page")),
        "link": f"{address}&change={chosen}",
        "tabs": [
            {
                "label": CHANGES[name],
                "url": f"{address}&change={name}",
                "current": name == chosen,
                "count": counts[name],
            }
            for name in CHANGES
        ],
    }


def _version(request: ActorRequest, model: Model, name: str) -> ModelVersion:
    text = request.GET.get(name, "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    found = selectors.versions(model).select_related("manifest").filter(number=number, manifest__isnull=False).first()
    if found is None:
        raise NotFound
    return found
