"""The list of boards: columns and filter."""

import django_filters
import django_tables2 as tables
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.boards.models import Board
from apps.common.cells import Cell
from apps.common.filters import MineFilter
from apps.common.forms import search_box
from apps.common.permissions import Permission
from apps.common.tables import FULL, Table, column
from apps.workloads.filters import MembersWork, StatusFilter


class BoardTable(Table):
    caption = "TensorBoard"
    name = Cell(
        template_name="boards/cells/name.html",
        verbose_name=_("Runs"),
        order_by=("workload__name", "-created_at"),
        attrs=column(width=FULL),
    )
    status = Cell(
        template_name="boards/cells/status.html",
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
    created_at = tables.TemplateColumn(
        "{% load pl %}{% when record.created_at %}", verbose_name=_("Opened"), attrs=column(fold=_("Opened"))
    )

    class Meta(Table.Meta):
        model = Board
        fields = ()
        sequence = ("name", "status", "owner", "created_at")
        order_by = "-created_at"
        row_attrs = {"data-href": lambda record: reverse("boards:detail", args=[record.pk])}


class BoardFilter(MembersWork):
    """Filters of the list; the URL holds their state."""

    sees_all = Permission.TRAINING_MANAGE_ALL

    q = django_filters.CharFilter(method="search", label=_("Search name"), widget=search_box())
    status = StatusFilter("workload__")
    mine = MineFilter()

    class Meta:
        model = Board
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Board], name: str, value: str) -> QuerySet[Board]:
        return rows.filter(shown__label__icontains=value).distinct()
