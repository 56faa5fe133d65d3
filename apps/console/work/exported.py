"""What runs and what is kept in every organisation, as files."""

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.actor import Actor
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.work.images.listing import ImageFilter
from apps.console.work.images.selectors import with_uses
from apps.console.work.workloads.listing import WorkloadFilter
from apps.console.work.workloads.selectors import workloads
from apps.envs import exported as envs
from apps.envs.selectors import environments
from apps.envs.tables import EnvironmentFilter
from apps.registry import ruling
from apps.storage import exported as storage
from apps.storage.tables import StorageFilter
from apps.workloads import kinds

ORGANISATION, OWNER = Column(_("Organisation"), width=24), Column(_("Owner"), width=20)


def _workload(row: Any) -> list[Cell]:
    return [
        row.organisation.name,
        row.owner.display_name,
        row.name,
        str(kinds.named(row.kind).label),
        row.get_status_display(),
        row.package.name_en,
        row.node_name,
        row.paid_rate / 100,
        row.created_at,
        row.started_at,
        row.ended_at,
        str(row.pk),
    ]


def _image(row: Any) -> list[Cell]:
    return [
        row.name,
        row.key,
        row.organisation.name if row.organisation else str(_("Of the platform")),
        str(_("On offer") if row.active else pgettext_lazy("offer", "Withdrawn")),
        len(row.requirements),
        row.environments,
        row.runs,
        row.created_at,
    ]


def _across(cells: Any) -> Any:
    """The portal's cells after whose the row is."""
    return lambda row: [row.organisation.name, *cells(row)]


def _images(actor: Actor, asked: QueryDict) -> QuerySet[Any]:
    return with_uses(ruling.all_images(actor))


WORKLOADS = ExportedList(
    name="workloads",
    label=_("Workloads"),
    permission=P.PLATFORM_WORKLOADS_VIEW,
    platform=True,
    rows=lambda actor, asked: workloads(actor),
    filters=WorkloadFilter,
    order=("-created_at", "-pk"),
    columns=(
        ORGANISATION,
        OWNER,
        Column(_("Name"), width=30),
        Column(_("Kind")),
        Column(_("State")),
        Column(_("Package"), width=20),
        Column(_("Node"), width=18),
        Column("¥/h", CellFormat.EXACT),
        Column(_("Submitted"), CellFormat.MOMENT, 20),
        Column(_("Started"), CellFormat.MOMENT, 20),
        Column(_("Ended"), CellFormat.MOMENT, 20),
        Column(_("Id"), width=38),
    ),
    cells=_workload,
)
ENVIRONMENTS = ExportedList(
    name="all_environments",
    label=_("Environments"),
    permission=P.PLATFORM_WORKLOADS_VIEW,
    platform=True,
    rows=lambda actor, asked: environments(actor),
    filters=EnvironmentFilter,
    order=("-created_at", "-pk"),
    columns=(ORGANISATION, *envs.COLUMNS),
    cells=_across(envs.cells),
)
VOLUMES = ExportedList(
    name="all_volumes",
    label=_("Volumes"),
    permission=P.PLATFORM_STORAGE_VIEW,
    platform=True,
    rows=storage.volume_rows,
    filters=StorageFilter,
    order=("-created_at", "-pk"),
    columns=(ORGANISATION, *storage.VOLUME_COLUMNS),
    cells=_across(storage.volume_cells),
)
DATASETS = ExportedList(
    name="all_datasets",
    label=_("Datasets"),
    permission=P.PLATFORM_STORAGE_VIEW,
    platform=True,
    rows=storage.dataset_rows,
    filters=StorageFilter,
    order=("-created_at", "-pk"),
    columns=(ORGANISATION, *storage.DATASET_COLUMNS),
    cells=_across(storage.dataset_cells),
)
IMAGES = ExportedList(
    name="all_images",
    label=_("Images"),
    permission=P.PLATFORM_IMAGES_MANAGE,
    platform=True,
    rows=_images,
    filters=ImageFilter,
    columns=(
        Column(_("Name"), width=24),
        Column(_("Image key"), width=20),
        Column(_("Whose"), width=24),
        Column(_("Offer")),
        Column(pgettext_lazy("software", "Packages"), CellFormat.WHOLE, 10),
        Column(_("Environments"), CellFormat.WHOLE, 12),
        Column(_("Training runs"), CellFormat.WHOLE, 12),
        Column(_("Created"), CellFormat.MOMENT, 20),
    ),
    cells=_image,
)
