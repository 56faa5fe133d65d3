"""The list of every organisation's workloads: its columns and filters; page and API share the filters."""

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.kit.filters import OrganisationFilter
from apps.workloads import kinds
from apps.workloads.filters import StatusFilter
from apps.workloads.models import Workload


class WorkloadTable(Table):
    caption = _("Workloads")
    export = "workloads"
    ticking = ("duration",)
    name = Cell(
        template_name="console/cells/workload_name.html",
        verbose_name=_("Name and package"),
        order_by=("name",),
        attrs=column(width=FULL),
    )
    status = Cell(
        template_name="console/cells/workload_status.html",
        verbose_name=_("State"),
        attrs=column("pl-inline", width=FULL),
    )
    organisation = Cell(
        '{{ record.organisation.name }}<span class="pl-sub">{{ record.owner }}</span>',
        verbose_name=_("Organisation and owner"),
        order_by=("organisation__name",),
        attrs=column("pl-inline", width=FULL),
    )
    node_name = tables.Column(verbose_name=_("Node"), default="—", orderable=False, attrs=column(fold=_("Node")))
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Submitted"),
        attrs=column(fold=_("Submitted"), numeric=True),
    )
    duration = Cell(
        "{% load console %}{{ record|ran_for }}",
        verbose_name=_("Ran for"),
        orderable=False,
        attrs=column("pl-roomy", fold=_("Ran for"), numeric=True),
    )
    rate = Cell(
        "{% load pl %}{{ record.paid_rate|rate_amount }}",
        verbose_name="¥/h",
        order_by=("price_version__rate_fen_per_hour",),
        attrs=column(fold="¥/h", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:workload", args=[record.pk])}

    def kept_beside(self, record: Workload) -> tuple[()]:
        return ()


class WorkloadFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name or owner"), widget=search_box())
    status = StatusFilter()
    organisation = OrganisationFilter()
    kind = django_filters.ChoiceFilter(choices=kinds.choices(), label=_("Kind"), empty_label=_("Any kind"))

    class Meta:
        model = Workload
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Workload], name: str, value: str) -> QuerySet[Workload]:
        by_owner = Q(owner__username__icontains=value) | Q(owner__name__icontains=value)
        return rows.filter(Q(name__icontains=value) | by_owner)
