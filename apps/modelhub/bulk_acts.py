"""Acts on several models."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from apps.common.bulk import BulkAct, BulkList
from apps.common.permissions import Permission
from apps.modelhub import services
from apps.modelhub.exported import model_rows
from apps.storage.tables import StorageFilter

MODELS = BulkList(
    route="models:bulk",
    back="models:list",
    acts=(
        BulkAct(
            name="delete",
            label=_("Delete"),
            icon="trash",
            permission=Permission.MODELS_USE,
            title=ngettext_lazy("Delete %(count)s model?", "Delete %(count)s models?", "count"),
            done=ngettext_lazy("%(count)s model is in the bin.", "%(count)s models are in the bin.", "count"),
            do=services.delete,
            lost=_("They can no longer be mounted; those in use are left alone"),
            kept=_("Their files, for 30 days"),
            undo=_("Restore them from the bin"),
            dangerous=True,
        ),
    ),
    rows=model_rows,
    filters=StorageFilter,
)
