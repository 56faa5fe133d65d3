"""The list of organisations: its columns and filters; page and API share the filters."""

from decimal import Decimal
from typing import Any
from uuid import UUID

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.formatting import UNKNOWN
from apps.common.forms import search_box
from apps.common.tables import Table, column
from apps.common.templatetags.pl_filters import rate_amount
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation


class OrganisationTable(Table):
    """`burns`: fen per hour by organisation id, for the rows that burn anything."""

    caption = _("Organisations")
    export = "organisations"
    name = Cell(
        template_name="console/cells/organisation_name.html",
        verbose_name=_("Name"),
        attrs=column("o-1", width="c-4"),
    )
    status = Cell(
        template_name="console/cells/organisation_status.html",
        verbose_name=_("Status"),
        attrs=column("o-2", width="c-2"),
    )
    members = tables.Column(verbose_name=_("Members"), attrs=column(fold=_("Members"), numeric=True))
    live = tables.Column(verbose_name=_("Live workloads"), attrs=column(fold=_("Live workloads"), numeric=True))
    burn = tables.Column(verbose_name="¥/h", orderable=False, empty_values=(), attrs=column(fold="¥/h", numeric=True))
    balance_fen = Cell(
        "{% load pl %}{{ record.balance_fen|amount }}",
        verbose_name=_("Balance ¥"),
        attrs=column(fold=_("Balance ¥"), numeric=True),
    )
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Created"),
        attrs=column("pl-roomy", "pl-wide", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:organisation", args=[record.pk])}
        sequence = ("name", "status", "members", "live", "burn", "balance_fen", "created_at")
        order_by = "name"

    def __init__(self, *args: Any, burns: dict[UUID, Decimal], money: bool, **kwargs: Any) -> None:
        self.burns = burns
        super().__init__(*args, exclude=() if money else ("burn", "balance_fen"), **kwargs)

    def render_burn(self, record: Organisation) -> str:
        found = self.burns.get(record.pk)
        return UNKNOWN if found is None else rate_amount(found)


class OrganisationListFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name or short name"), widget=search_box())
    status = django_filters.ChoiceFilter(
        choices=OrganisationStatus.choices, label=_("Status"), empty_label=_("Any status")
    )

    class Meta:
        model = Organisation
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Organisation], name: str, value: str) -> QuerySet[Organisation]:
        return rows.filter(Q(name__icontains=value) | Q(slug__icontains=value))
