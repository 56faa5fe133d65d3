"""The list of services: columns and filter."""

from typing import Any, ClassVar

import django_filters
import django_tables2 as tables
from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.cells import Cell
from apps.common.filters import MineFilter
from apps.common.forms import search_box
from apps.common.permissions import Permission
from apps.common.tables import FULL, Table, column
from apps.serving.choices import OPEN
from apps.serving.models import Deployment, Service
from apps.workloads.filters import MembersWork
from apps.workloads.single_workload.tables import submitted_column


class ServiceTable(Table):
    caption = _("Model services")
    export = "services"
    name = Cell(template_name="serving/cells/name.html", verbose_name=_("Name and address"), attrs=column(width=FULL))
    state = Cell(
        template_name="serving/cells/state.html",
        accessor="pk",
        verbose_name=_("State"),
        orderable=False,
        attrs=column("pl-inline", width=FULL),
    )
    version = Cell(
        template_name="serving/cells/version.html",
        accessor="pk",
        verbose_name=_("Version"),
        orderable=False,
        attrs=column(fold=_("Version")),
    )
    package = Cell(
        template_name="serving/cells/package.html",
        accessor="package__pk",
        verbose_name=_("Package"),
        orderable=False,
        attrs=column(width=FULL),
    )
    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column("pl-roomy", fold=_("Owner")),
    )
    created_at = submitted_column(_("Created"))

    class Meta(Table.Meta):
        model = Service
        fields = ()
        sequence = ("name", "state", "version", "package", "owner", "created_at")
        order_by = "-created_at"
        row_attrs = {"data-href": lambda record: reverse("serving:detail", args=[record.pk])}


class RunningFilter(django_filters.ChoiceFilter):
    """Whether something of it is to run."""

    def __init__(self) -> None:
        choices = [("started", _("Started")), ("stopped", pgettext_lazy("service", "Stopped"))]
        super().__init__(label=_("State"), choices=choices, empty_label=_("Any state"))

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        if not value:
            return qs
        running = Exists(Deployment.objects.filter(service=OuterRef("pk"), status__in=OPEN))
        return qs.filter(running if value == "started" else ~running)


class ServiceFilter(MembersWork):
    """Filters of the list; the URL holds their state."""

    sees_all: ClassVar[Permission] = Permission.SERVICES_MANAGE_ALL

    q = django_filters.CharFilter(method="search", label=_("Search name"), widget=search_box())
    state = RunningFilter()
    mine = MineFilter()

    class Meta:
        model = Service
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows.filter(name__icontains=value)
