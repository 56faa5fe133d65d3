"""The list of departments: its columns and filters; page and API share the filters."""

from typing import Any
from uuid import UUID

import django_filters
import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.tenants.models import Department


class DepartmentTable(Table):
    """`books` of the page's departments by id: used and limit, as the cell shows them."""

    caption = _("Departments")
    name = Cell(
        template_name="organisation/cells/department_name.html",
        verbose_name=_("Name"),
        attrs=column(width=FULL),
    )
    people = tables.Column(verbose_name=_("Members"), attrs=column(fold=_("Members"), numeric=True))
    cpu = tables.Column(verbose_name=_("CPU cores"), orderable=False, empty_values=(), attrs=column(fold="CPU"))
    gpu = tables.Column(verbose_name=_("GPU cards"), orderable=False, empty_values=(), attrs=column(fold="GPU"))
    storage = tables.Column(verbose_name=_("Storage GiB"), orderable=False, empty_values=(), attrs=column("pl-wide"))

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("organisation:department", args=[record.pk])}
        order_by = "name"

    books: dict[UUID, dict[str, str]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.books = {}
        super().__init__(*args, **kwargs)

    def render_cpu(self, record: Any) -> str:
        return self.books.get(record.pk, {}).get("cpu_milli", "0")

    def render_gpu(self, record: Any) -> str:
        return self.books.get(record.pk, {}).get("gpu_milli", "0")

    def render_storage(self, record: Any) -> str:
        return self.books.get(record.pk, {}).get("storage_mib", "0")


class DepartmentFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(
        field_name="name", lookup_expr="icontains", label=_("Name, anywhere below"), widget=search_box()
    )

    class Meta:
        model = Department
        fields: tuple[str, ...] = ()
