"""The list of builds: columns and filter."""

import django_filters
import django_tables2 as tables
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.builds.models import Build
from apps.common.cells import Cell
from apps.common.filters import MineFilter
from apps.common.forms import search_box
from apps.common.permissions import Permission
from apps.common.tables import FULL, Table, column
from apps.workloads.filters import MembersWork, StatusFilter


class BuildTable(Table):
    caption = _("Image builds")
    name = Cell(template_name="builds/cells/name.html", verbose_name=_("Image and base"), attrs=column(width=FULL))
    status = Cell(
        template_name="builds/cells/status.html",
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
        "{% load pl %}{% when record.created_at %}", verbose_name=_("Submitted"), attrs=column(fold=_("Submitted"))
    )

    class Meta(Table.Meta):
        model = Build
        fields = ()
        sequence = ("name", "status", "owner", "created_at")
        order_by = "-created_at"
        row_attrs = {"data-href": lambda record: reverse("builds:detail", args=[record.pk])}


class BuildFilter(MembersWork):
    """Filters of the list; the URL holds their state."""

    sees_all = Permission.IMAGES_MANAGE

    q = django_filters.CharFilter(method="search", label=_("Search name"), widget=search_box())
    status = StatusFilter("workload__")
    mine = MineFilter()

    class Meta:
        model = Build
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Build], name: str, value: str) -> QuerySet[Build]:
        return rows.filter(name__icontains=value)
