"""The list of packages: its columns and filters; page and API share the filters."""

from collections.abc import Mapping
from types import MappingProxyType

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.models import Package
from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.workloads.explaining.cases import Words


class PackageTable(Table):
    """`obstacles`: by id, for those of the page that no machine can run."""

    caption = _("Packages")
    export = "packages"
    obstacles: Mapping[int, Words] = MappingProxyType({})
    name = Cell(
        template_name="console/cells/package_name.html",
        verbose_name=_("Package"),
        order_by=("name_en",),
        attrs=column("o-1", width="c-4"),
    )
    offer = Cell(
        template_name="console/cells/package_offer.html",
        verbose_name=_("Offer"),
        order_by=("active",),
        attrs=column("o-2", width="c-2"),
    )
    resources = Cell(
        "{% load console %}{{ record|package_resources }}",
        verbose_name=_("Resources"),
        order_by=("cpu_milli", "memory_mib"),
        attrs=column(width=FULL),
    )
    isolation = Cell(
        "{% load pl training %}{% tag record|isolation_label record|isolation_icon %}",
        verbose_name=_("Isolation"),
        attrs=column(width=FULL),
    )
    price = Cell(
        "{% load pl %}{{ record.price.rate_fen_per_hour|rate_amount }}",
        verbose_name="¥/h",
        orderable=False,
        attrs=column(fold="¥/h", numeric=True),
    )
    version = Cell(
        "{% load pl %}{{ record.price.number|dash }}",
        verbose_name=_("Price version"),
        orderable=False,
        attrs=column("pl-roomy", fold=_("Price version"), numeric=True),
    )
    sort = tables.Column(verbose_name=_("Position"), attrs=column("pl-roomy", "pl-wide", numeric=True))

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:package", args=[record.pk])}


class PackageFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name or GPU model"), widget=search_box())
    active = django_filters.ChoiceFilter(
        choices=[("true", _("On offer")), ("false", pgettext_lazy("offer", "Withdrawn"))],
        method="by_offer",
        label=_("Offer"),
        empty_label=_("All packages"),
    )

    class Meta:
        model = Package
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Package], name: str, value: str) -> QuerySet[Package]:
        named = Q(name_en__icontains=value) | Q(name_zh__icontains=value)
        return rows.filter(named | Q(gpu_model__icontains=value))

    def by_offer(self, rows: QuerySet[Package], name: str, value: str) -> QuerySet[Package]:
        return rows.filter(active=value == "true")
