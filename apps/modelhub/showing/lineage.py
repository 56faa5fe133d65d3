"""Where a version came from and what was made of it, as columns of boxes; each links to what the reader may open."""

from dataclasses import dataclass

from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.formatting import file_size
from apps.common.permissions import Permission
from apps.modelhub import selectors
from apps.modelhub.choices import Source
from apps.modelhub.models import ModelVersion
from apps.modelhub.uses import Use
from apps.storage import datasets
from apps.workloads.kinds import kind_of


@dataclass(frozen=True, slots=True)
class Hop:
    """One box; `current` is the version itself."""

    label: str
    name: str
    icon: str
    sub: str = ""
    url: str = ""
    current: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """`joins`: SVG paths from the column before, in a box of 28 × 120."""

    hops: list[Hop]
    joins: list[str]


def columns_of(actor: Actor, version: ModelVersion, uses: list[Use]) -> list[Column]:
    """Inputs, the run or other source, the version, what uses it; columns without a box are left out."""
    this = Hop(_("This version"), str(version), "box", _size(version), current=True)
    after = [Hop(use.kind, use.name, use.icon, use.sub, use.url) for use in uses[:6]]
    found = [hops for hops in (_inputs(actor, version), [_source(version)], [this], after) if hops]
    columns = []
    for place, hops in enumerate(found):
        columns.append(Column(hops, _joins(len(found[place - 1]), len(hops)) if place else []))
    return columns


def _inputs(actor: Actor, version: ModelVersion) -> list[Hop]:
    hops = []
    seen = set()
    if actor.may(Permission.STORAGE_VIEW):
        wanted = Q(pk__in=version.training_data.values("dataset_version"))
        seen = set(datasets.choosable(actor).filter(wanted).values_list("pk", flat=True))
    for data in version.training_data.select_related("dataset_version")[:6]:
        url = ""
        if data.dataset_version is not None and data.dataset_version_id in seen:
            page = reverse("storage:dataset", args=[data.dataset_version.dataset_id])
            url = f"{page}?version={data.dataset_version.number}"
        hops.append(Hop(_("Dataset"), data.name, "stack-2", url=url))
    if version.parent is not None:
        visible = selectors.versions_for(actor).filter(pk=version.parent.pk).exists()
        url = reverse("models:version", args=[version.parent.pk]) if visible else ""
        hops.append(Hop(_("Began with"), str(version.parent), "box", url=url))
    if version.code_digest:
        hops.append(Hop(_("Code"), version.code_digest[:12], "code"))
    return hops


def _source(version: ModelVersion) -> Hop:
    label, icon = version.get_source_display(), _ICONS[Source(version.source)]
    url = ""
    if version.workload is not None:
        url = reverse(kind_of(version.workload).page, args=[version.workload_id])
    return Hop(label, version.source_name or version.made_by.display_name, icon, version.source_path, url)


_ICONS = {Source.RUN: "flask", Source.VOLUME: "database", Source.UPLOAD: "upload", Source.OTHER: "transform"}


def _size(version: ModelVersion) -> str:
    return f"{version.get_format_display()} {file_size(version.total_bytes)}".strip() if version.is_ready else ""


def _joins(left: int, right: int) -> list[str]:
    """From the middle of each box on the left to that of each on the right; one of the columns has one box."""
    starts = [(2 * place + 1) * 60 / left for place in range(left)]
    ends = [(2 * place + 1) * 60 / right for place in range(right)]
    return [f"M0 {start:g}C14 {start:g} 14 {end:g} 28 {end:g}" for start in starts for end in ends]
