"""The list of requests for packages: its columns and filters; pages and API share the filters."""

from typing import Any

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import RequestState
from apps.billing.models import PackageRequest
from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.kit.filters import OrganisationFilter


class RequestTable(Table):
    """`decides`: whether the reader may decide; `across`: whether organisations are told apart."""

    caption = _("Requests for packages")
    pick = Cell(
        template_name="console/cells/request_pick.html",
        verbose_name="",
        orderable=False,
        empty_values=(),
        attrs=column("pl-wide"),
    )
    user = Cell(
        template_name="console/cells/member.html",
        verbose_name=_("Person"),
        order_by=("user__username",),
        attrs=column(width=FULL),
    )
    organisation = tables.Column(
        accessor="organisation__name", verbose_name=_("Organisation"), attrs=column(fold=_("Organisation"))
    )
    package = Cell(
        "{% load training %}{{ record.package|package_name }}",
        verbose_name=_("Package"),
        order_by=("package__name_en",),
        attrs=column(fold=_("Package")),
    )
    reason = tables.Column(verbose_name=_("What for"), orderable=False, attrs=column(width=FULL))
    state = Cell(
        template_name="console/cells/request_state.html", verbose_name=_("State"), attrs=column(fold=_("State"))
    )
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Requested at"),
        attrs=column("pl-wide", numeric=True),
    )
    acts = Cell(
        template_name="console/cells/request_acts.html",
        verbose_name="",
        orderable=False,
        empty_values=(),
        attrs=column("pl-acts", width=FULL),
    )

    class Meta(Table.Meta):
        order_by = "-created_at"

    def __init__(self, *args: Any, decides: bool, across: bool, **kwargs: Any) -> None:
        self.decides = decides
        self.deny_name = "console:request_deny" if across else "organisation:request_deny"
        hidden = ([] if decides else ["pick", "acts"]) + ([] if across else ["organisation"])
        super().__init__(*args, exclude=tuple(hidden), **kwargs)


class RequestFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Person, package or reason"), widget=search_box())
    state = django_filters.ChoiceFilter(choices=RequestState.choices, label=_("State"), empty_label=_("Any state"))

    class Meta:
        model = PackageRequest
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[PackageRequest], name: str, value: str) -> QuerySet[PackageRequest]:
        by_person = Q(user__username__icontains=value) | Q(user__name__icontains=value)
        by_package = Q(package__name_en__icontains=value) | Q(package__name_zh__icontains=value)
        return rows.filter(by_person | by_package | Q(reason__icontains=value))


class PlatformRequestFilter(RequestFilter):
    organisation = OrganisationFilter()
