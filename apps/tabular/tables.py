"""The list of searches on tables: columns and filter."""

from datetime import datetime

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from apps.common import addresses, markup
from apps.common.filters import MineFilter
from apps.common.forms import search_box
from apps.common.permissions import Permission
from apps.common.tables import FULL, Table, column
from apps.common.templatetags.pl import when
from apps.tabular.choices import Task
from apps.tabular.models import TableSearch
from apps.workloads.choices import Status
from apps.workloads.filters import MembersWork


class TableSearchTable(Table):
    caption = _("Searches on tables")
    export = "table-searches"
    name = tables.Column(verbose_name=_("Name and table"), attrs=column("o-1", width=FULL))
    status = tables.Column(verbose_name=_("State"), attrs=column("pl-inline", width=FULL))
    target = tables.Column(verbose_name=_("Column to predict"), attrs=column(fold=_("Column to predict")))
    metric = tables.Column(verbose_name=_("Metric"), orderable=False, attrs=column(fold=_("Metric")))
    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column("pl-roomy", fold=_("Owner")),
    )
    created_at = tables.Column(verbose_name=_("Started"), attrs=column(fold=_("Started")))

    class Meta(Table.Meta):
        model = TableSearch
        fields = ()
        sequence = ("name", "status", "target", "metric", "owner", "created_at")
        order_by = "-created_at"
        row_attrs = {"data-href": lambda record: addresses.page_of("tabular:detail", record.pk)}

    def render_name(self, value: str, record: TableSearch) -> str:
        return format_html(
            '<a class="pl-name" href="{}">{}</a><span class="pl-sub">{} v{} · {}</span>',
            addresses.page_of("tabular:detail", record.pk),
            value,
            record.dataset_name,
            record.dataset_number,
            record.path,
        )

    def render_status(self, value: str) -> str:
        return markup.state(value, str(Status(value).label))

    def render_target(self, value: str, record: TableSearch) -> str:
        return format_html('{}<span class="pl-sub">{}</span>', value, record.get_task_display())

    def render_metric(self, record: TableSearch) -> str:
        return str(record.get_metric_display())

    def render_created_at(self, value: datetime) -> str:
        return when(value)


class TableSearchFilter(MembersWork):
    sees_all = Permission.TRAINING_MANAGE_ALL

    q = django_filters.CharFilter(method="search", label=_("Search name, note, table or column"), widget=search_box(28))
    status = django_filters.ChoiceFilter(label=_("State"), choices=Status.choices, empty_label=_("Any state"))
    task = django_filters.ChoiceFilter(label=_("Task"), choices=Task.choices, empty_label=_("Any task"))
    mine = MineFilter()

    class Meta:
        model = TableSearch
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[TableSearch], name: str, value: str) -> QuerySet[TableSearch]:
        places = ("name", "note", "dataset_name", "path", "target")
        found = Q()
        for place in places:
            found |= Q(**{f"{place}__icontains": value})
        return rows.filter(found)
