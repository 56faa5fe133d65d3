"""Volumes and datasets as files, of the portal and the console alike."""

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.common.actor import Actor
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.storage import datasets, volumes
from apps.storage.models import Dataset, Volume
from apps.storage.tables import StorageFilter

VOLUME_COLUMNS = (
    Column(_("Owner"), width=20),
    Column(_("Name"), width=24),
    Column(_("Volume code"), width=18),
    Column(_("Used, bytes"), CellFormat.WHOLE, 16),
    Column(_("Size, MiB"), CellFormat.WHOLE, 12),
    Column(_("Note"), width=30),
    Column(_("Made"), CellFormat.MOMENT, 20),
)
DATASET_COLUMNS = (
    Column(_("Owner"), width=20),
    Column(_("Name"), width=24),
    Column(_("Newest version"), CellFormat.WHOLE, 10),
    Column(_("Its size, bytes"), CellFormat.WHOLE, 16),
    Column(_("Note"), width=30),
    Column(_("Made"), CellFormat.MOMENT, 20),
)


def _in_bin(asked: QueryDict) -> bool:
    return asked.get("bin") in ("on", "true", "1")


def volume_rows(actor: Actor, asked: QueryDict) -> QuerySet[Volume]:
    return volumes.binned(actor) if _in_bin(asked) else volumes.visible(actor)


def dataset_rows(actor: Actor, asked: QueryDict) -> QuerySet[Dataset]:
    return datasets.with_newest(datasets.binned(actor) if _in_bin(asked) else datasets.visible(actor))


def volume_cells(row: Volume) -> list[Cell]:
    return [
        row.owner.display_name,
        row.name,
        row.code,
        row.used_bytes,
        row.size_mib,
        row.note,
        row.created_at,
    ]


def dataset_cells(row: Any) -> list[Cell]:
    return [
        row.owner.display_name,
        row.name,
        row.newest or None,
        row.newest_bytes,
        row.note,
        row.created_at,
    ]


VOLUMES = ExportedList(
    name="volumes",
    label=_("Volumes"),
    permission=P.STORAGE_VIEW,
    whole=P.STORAGE_MANAGE_ALL,
    platform=False,
    rows=volume_rows,
    filters=StorageFilter,
    order=("-created_at", "-pk"),
    columns=VOLUME_COLUMNS,
    cells=volume_cells,
)
DATASETS = ExportedList(
    name="datasets",
    label=_("Datasets"),
    permission=P.STORAGE_VIEW,
    whole=P.STORAGE_MANAGE_ALL,
    platform=False,
    rows=dataset_rows,
    filters=StorageFilter,
    order=("-created_at", "-pk"),
    columns=DATASET_COLUMNS,
    cells=dataset_cells,
)
