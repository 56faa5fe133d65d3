"""Lists of volumes and datasets, and their filters."""

from typing import Any

import django_filters
import django_tables2 as tables
from django import forms
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.tables import FULL, Table, column
from apps.storage.models import Dataset, DatasetVersion, Volume


class CellColumn(tables.Column):
    """A cell made by a small template that sees the row alone."""

    def __init__(self, template: str, **options: Any) -> None:
        super().__init__(empty_values=(), **options)
        self.template = template

    def render(self, record: Any, table: Any) -> str:
        return render_to_string(self.template, {"record": record, "actor": table.request.actor})


class VolumeTable(Table):
    caption = _("Volumes")
    name = CellColumn("storage/cells/volume_name.html", verbose_name=_("Name"), attrs=column(width=FULL))
    used_bytes = CellColumn(
        "storage/cells/volume_used.html", verbose_name=_("Used"), attrs=column(fold=_("Used"), width=FULL)
    )
    size_mib = CellColumn(
        "storage/cells/volume_size.html", verbose_name=_("Size"), attrs=column(fold=_("Size"), numeric=True)
    )
    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column(fold=_("Owner")),
    )
    created_at = CellColumn(
        "storage/cells/created.html", verbose_name=_("Made"), attrs=column("pl-roomy", fold=_("Made"))
    )
    actions = CellColumn(
        "storage/cells/volume_actions.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-corner", numeric=True),
    )

    class Meta(Table.Meta):
        model = Volume
        fields = ()
        sequence = ("name", "used_bytes", "size_mib", "owner", "created_at", "actions")
        row_attrs = {"data-href": lambda record: _page("volume", record)}


class DatasetTable(Table):
    caption = _("Datasets")
    name = CellColumn("storage/cells/dataset_name.html", verbose_name=_("Name"), attrs=column(width=FULL))
    newest = CellColumn(
        "storage/cells/dataset_newest.html",
        verbose_name=_("Newest version"),
        attrs=column(fold=_("Newest version"), width=FULL),
    )
    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column(fold=_("Owner")),
    )
    created_at = CellColumn(
        "storage/cells/created.html", verbose_name=_("Made"), attrs=column("pl-roomy", fold=_("Made"))
    )
    actions = CellColumn(
        "storage/cells/dataset_actions.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-corner", numeric=True),
    )

    class Meta(Table.Meta):
        model = Dataset
        fields = ()
        sequence = ("name", "newest", "owner", "created_at", "actions")
        row_attrs = {"data-href": lambda record: _page("dataset", record)}


def _page(name: str, record: Any) -> str | None:
    """What lies in the bin has no page to open."""
    return None if record.deleted_at else reverse(f"storage:{name}", args=[record.pk])


class VersionTable(Table):
    caption = _("Versions")
    number = CellColumn("storage/cells/version_number.html", verbose_name=_("Version"), attrs=column(width=FULL))
    total_bytes = CellColumn(
        "storage/cells/version_size.html", verbose_name=_("Size"), attrs=column(fold=_("Size"), numeric=True)
    )
    file_count = tables.Column(verbose_name=_("Files"), attrs=column(fold=_("Files"), numeric=True))
    made_by = tables.Column(
        accessor="made_by__display_name", verbose_name=_("Made by"), orderable=False, attrs=column(fold=_("Made by"))
    )
    created_at = CellColumn("storage/cells/created.html", verbose_name=_("Made"), attrs=column(fold=_("Made")))
    actions = CellColumn(
        "storage/cells/version_actions.html", verbose_name="", orderable=False, attrs=column("pl-acts", numeric=True)
    )

    class Meta(Table.Meta):
        model = DatasetVersion
        fields = ()
        sequence = ("number", "total_bytes", "file_count", "made_by", "created_at", "actions")


class OnlyFilter(django_filters.Filter):
    """A check box that narrows the list when it is on; off is no filter at all."""

    field_class = forms.BooleanField


class StorageFilter(django_filters.FilterSet):
    """Search and whose; the bin is a list of its own, chosen by the view."""

    q = django_filters.CharFilter(
        method="search", label=_("Search name or note"), widget=forms.TextInput(attrs={"type": "search", "size": 24})
    )
    mine = OnlyFilter(method="by_owner", label=_("Mine only"))
    bin = OnlyFilter(method="in_bin", label=_("In the bin"))

    def search(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows.filter(Q(name__icontains=value) | Q(note__icontains=value))

    def by_owner(self, rows: QuerySet[Any], name: str, value: bool) -> QuerySet[Any]:
        return rows.filter(owner_id=self.request.actor.user_id) if value else rows

    def in_bin(self, rows: QuerySet[Any], name: str, value: bool) -> QuerySet[Any]:
        return rows  # the view has chosen the rows already
