"""Lists of models and versions."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.modelhub.models import Model, ModelVersion
from apps.storage.tables import OwnedTable


def _page(record: Model) -> str | None:
    return None if record.deleted_at else reverse("models:model", args=[record.pk])


class ModelTable(OwnedTable):
    caption = _("Models")
    export = "models"
    name = Cell(template_name="models/cells/name.html", verbose_name=_("Name"), attrs=column(width=FULL))
    newest = Cell(
        template_name="models/cells/newest.html",
        verbose_name=_("Newest version"),
        attrs=column(fold=_("Newest version"), width=FULL),
    )
    actions = Cell(
        template_name="models/cells/actions.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-corner", numeric=True),
    )

    class Meta(Table.Meta):
        model = Model
        fields = ()
        sequence = ("name", "newest", "owner", "created_at", "actions")
        row_attrs = {"data-href": _page}


class VersionTable(Table):
    caption = _("Versions")
    number = Cell(template_name="models/cells/number.html", verbose_name=_("Version"), attrs=column(width=FULL))
    format = Cell(
        template_name="models/cells/format.html", verbose_name=_("Format"), attrs=column(fold=_("Format"), width=FULL)
    )
    total_bytes = Cell(
        template_name="models/cells/size.html",
        verbose_name=_("Size"),
        attrs=column(fold=_("Size"), numeric=True),
    )
    source = Cell(
        template_name="models/cells/source.html",
        verbose_name=_("Came from"),
        orderable=False,
        attrs=column(fold=_("Came from")),
    )
    made_by = tables.Column(
        accessor="made_by__display_name", verbose_name=_("Made by"), orderable=False, attrs=column(fold=_("Made by"))
    )
    created_at = Cell(template_name="storage/cells/created.html", verbose_name=_("Made"), attrs=column(fold=_("Made")))

    class Meta(Table.Meta):
        model = ModelVersion
        fields = ()
        sequence = ("number", "format", "total_bytes", "source", "made_by", "created_at")
