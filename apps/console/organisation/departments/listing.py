"""The list of departments: its columns and filters; page and API share the filters."""

import django_filters
import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.kit.levels import LevelTable
from apps.tenants.models import Department


class DepartmentTable(LevelTable):
    caption = _("Departments")
    name = Cell(
        template_name="organisation/cells/department_name.html",
        verbose_name=_("Name"),
        attrs=column(width=FULL),
    )
    people = tables.Column(verbose_name=_("Members"), attrs=column(fold=_("Members"), numeric=True))

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("organisation:department", args=[record.pk])}
        sequence = ("name", "people", "cpu", "gpu", "storage")
        order_by = "name"


class DepartmentFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(
        field_name="name", lookup_expr="icontains", label=_("Name, anywhere below"), widget=search_box()
    )

    class Meta:
        model = Department
        fields: tuple[str, ...] = ()
