"""Acts of the staff on several volumes or datasets of any organisation."""

from typing import Any

from apps.common.bulk import BulkList
from apps.common.permissions import Permission as P
from apps.storage.bulk_acts import dataset_acts, volume_acts
from apps.storage.exported import dataset_rows, volume_rows
from apps.storage.tables import StorageFilter


def _named(row: Any) -> str:
    return f"{row.name} · {row.organisation.name} · {row.owner.display_name}"


VOLUMES = BulkList(
    route="console:volumes_bulk",
    back="console:volumes",
    acts=volume_acts(P.PLATFORM_STORAGE_MANAGE),
    rows=volume_rows,
    filters=StorageFilter,
    named=_named,
)
DATASETS = BulkList(
    route="console:datasets_bulk",
    back="console:datasets",
    acts=dataset_acts(P.PLATFORM_STORAGE_MANAGE),
    rows=dataset_rows,
    filters=StorageFilter,
    named=_named,
)
