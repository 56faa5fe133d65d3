"""Acts on several volumes or datasets, in the portal and, under the staff's right, in the console."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from apps.common.bulk import BulkAct, BulkList
from apps.common.permissions import Permission as P
from apps.storage import datasets, volumes
from apps.storage.exported import dataset_rows, volume_rows
from apps.storage.tables import StorageFilter

KEPT, UNDO = _("Their files, for 30 days"), _("Restore them from the bin")


def volume_acts(permission: P) -> tuple[BulkAct, ...]:
    return (
        BulkAct(
            name="delete",
            label=_("Delete"),
            icon="trash",
            permission=permission,
            title=ngettext_lazy("Delete %(count)s volume?", "Delete %(count)s volumes?", "count"),
            done=ngettext_lazy("%(count)s volume is in the bin.", "%(count)s volumes are in the bin.", "count"),
            do=volumes.delete,
            lost=_("They can no longer be mounted; those in use are left alone"),
            kept=KEPT,
            undo=UNDO,
            dangerous=True,
        ),
    )


def dataset_acts(permission: P) -> tuple[BulkAct, ...]:
    return (
        BulkAct(
            name="delete",
            label=_("Delete"),
            icon="trash",
            permission=permission,
            title=ngettext_lazy("Delete %(count)s dataset?", "Delete %(count)s datasets?", "count"),
            done=ngettext_lazy("%(count)s dataset is in the bin.", "%(count)s datasets are in the bin.", "count"),
            do=datasets.delete,
            lost=_("They can no longer be mounted; those in use are left alone"),
            kept=KEPT,
            undo=UNDO,
            dangerous=True,
        ),
    )


VOLUMES = BulkList(
    route="storage:volume_bulk",
    back="storage:volumes",
    acts=volume_acts(P.STORAGE_USE),
    rows=volume_rows,
    filters=StorageFilter,
)
DATASETS = BulkList(
    route="storage:dataset_bulk",
    back="storage:datasets",
    acts=dataset_acts(P.STORAGE_USE),
    rows=dataset_rows,
    filters=StorageFilter,
)
