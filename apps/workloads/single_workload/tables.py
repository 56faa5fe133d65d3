"""The list: columns and filter. A kind adds its `name` column, its caption and its words."""

from typing import Any, ClassVar

import django_filters
import django_tables2 as tables
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.filters import MineFilter
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.workloads.filters import MembersWork, StatusFilter


def submitted_column(label: Any = _("Submitted")) -> tables.TemplateColumn:
    return tables.TemplateColumn(
        "{% load pl %}{% when record.created_at %}", verbose_name=label, attrs=column(fold=label)
    )


class WorkTable(Table):
    """`room`: the namespace of the kind's pages."""

    room: ClassVar[str]

    status = Cell(
        template_name="workloads/single_workload/status.html",
        verbose_name=_("State"),
        order_by=("workload__status", "-created_at"),
        attrs=column("pl-inline", width=FULL),
    )
    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column("pl-roomy", fold=_("Owner")),
    )
    created_at = submitted_column()

    class Meta(Table.Meta):
        fields = ()
        sequence = ("name", "status", "owner", "created_at")
        order_by = "-created_at"
        row_attrs = {"data-href": lambda table, record: reverse(f"{table.room}:detail", args=[record.pk])}


class WorkFilter(MembersWork):
    """Filters of the list; the URL holds their state. `searched`: the column in which `q` looks."""

    searched: ClassVar[str] = "name"

    q = django_filters.CharFilter(method="search", label=_("Search name"), widget=search_box())
    status = StatusFilter("workload__")
    mine = MineFilter()

    def search(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows.filter(**{f"{self.searched}__icontains": value})
