"""Lists of volumes and datasets, and their filters."""

from typing import Any

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.filters import MineFilter, OnlyFilter
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.storage.models import Dataset, DatasetVersion, Volume


def _page(record: Volume | Dataset) -> str | None:
    return None if record.deleted_at else reverse(f"storage:{record._meta.model_name}", args=[record.pk])


class OwnedTable(Table):
    """What volumes and datasets show alike. Rows open their page; what lies in the bin has none."""

    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column(fold=_("Owner")),
    )
    created_at = Cell(
        template_name="storage/cells/created.html", verbose_name=_("Made"), attrs=column("pl-roomy", fold=_("Made"))
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": _page}


class VolumeTable(OwnedTable):
    caption = _("Volumes")
    export = "volumes"
    name = Cell(template_name="storage/cells/volume_name.html", verbose_name=_("Name"), attrs=column(width=FULL))
    used_bytes = Cell(
        template_name="storage/cells/volume_used.html", verbose_name=_("Used"), attrs=column(fold=_("Used"), width=FULL)
    )
    size_mib = Cell(
        template_name="storage/cells/volume_size.html",
        verbose_name=_("Size"),
        attrs=column(fold=_("Size"), numeric=True),
    )
    actions = Cell(
        template_name="storage/cells/volume_actions.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-corner", numeric=True),
    )

    class Meta(OwnedTable.Meta):
        model = Volume
        fields = ()
        sequence = ("name", "used_bytes", "size_mib", "owner", "created_at", "actions")


class DatasetTable(OwnedTable):
    caption = _("Datasets")
    export = "datasets"
    name = Cell(template_name="storage/cells/dataset_name.html", verbose_name=_("Name"), attrs=column(width=FULL))
    newest = Cell(
        template_name="storage/cells/dataset_newest.html",
        verbose_name=_("Newest version"),
        attrs=column(fold=_("Newest version"), width=FULL),
    )
    actions = Cell(
        template_name="storage/cells/dataset_actions.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-corner", numeric=True),
    )

    class Meta(OwnedTable.Meta):
        model = Dataset
        fields = ()
        sequence = ("name", "newest", "owner", "created_at", "actions")


class VersionTable(Table):
    caption = _("Versions")
    number = Cell(
        template_name="storage/cells/version_number.html", verbose_name=_("Version"), attrs=column(width=FULL)
    )
    total_bytes = Cell(
        template_name="storage/cells/version_size.html",
        verbose_name=_("Size"),
        attrs=column(fold=_("Size"), numeric=True),
    )
    file_count = tables.Column(verbose_name=_("Files"), attrs=column(fold=_("Files"), numeric=True))
    made_by = tables.Column(
        accessor="made_by__display_name", verbose_name=_("Made by"), orderable=False, attrs=column(fold=_("Made by"))
    )
    created_at = Cell(template_name="storage/cells/created.html", verbose_name=_("Made"), attrs=column(fold=_("Made")))
    actions = Cell(
        template_name="storage/cells/version_actions.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-acts", numeric=True),
    )

    class Meta(Table.Meta):
        model = DatasetVersion
        fields = ()
        sequence = ("number", "total_bytes", "file_count", "made_by", "created_at", "actions")


class StorageFilter(django_filters.FilterSet):
    """Search and whose; the bin is a list of its own, chosen by the view."""

    q = django_filters.CharFilter(method="search", label=_("Search name or note"), widget=search_box())
    mine = MineFilter()
    bin = OnlyFilter(method="in_bin", label=_("In the bin"))

    def search(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows.filter(Q(name__icontains=value) | Q(note__icontains=value))

    def in_bin(self, rows: QuerySet[Any], name: str, value: bool) -> QuerySet[Any]:
        return rows  # the view has chosen the rows already
