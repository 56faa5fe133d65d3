"""The list of nodes: its columns and filters. The URL holds their state; page and API share the filters."""

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.clusters.choices import NodeStatus
from apps.clusters.models import Node
from apps.clusters.selectors import silent
from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.hardware.zones.selectors import zones_by_name


def _shared(template: str) -> str:
    """A cell that the node's own page shows too."""
    return (
        "{% load hardware %}{% with record=record|node_row %}"
        f'{{% include "console/cells/{template}.html" %}}'
        "{% endwith %}"
    )


class NodeTable(Table):
    caption = _("Nodes")
    export = "nodes"
    name = Cell(_shared("node_name"), verbose_name=_("Name and place"), attrs=column("o-1", width="c-4"))
    status = Cell(_shared("node_status"), verbose_name=_("State"), attrs=column("pl-inline", width=FULL))
    isolation = Cell(
        "{% load pl workloads %}{% tag record.isolation 'shield-lock' title=record.isolation_reason|isolation_words %}",
        verbose_name=_("Isolation"),
        attrs=column("pl-roomy", fold=_("Isolation")),
    )
    held_runs = tables.Column(verbose_name=_("Running"), attrs=column(fold=_("Running"), numeric=True))
    held_cpu = Cell(_shared("node_cpu"), verbose_name=_("CPU given out"), attrs=column(fold=_("CPU"), width=FULL))
    held_memory = Cell(
        _shared("node_memory"), verbose_name=_("Memory given out"), attrs=column(fold=_("Memory"), width=FULL)
    )
    held_cards = Cell(_shared("node_cards"), verbose_name=_("Cards"), attrs=column(fold=_("Cards"), numeric=True))
    disk_free_mib = Cell(
        "{% load pl %}{% if record.disk_mib %}{{ record.disk_free_mib|memory }}{% else %}—{% endif %}",
        verbose_name=_("Disk free"),
        attrs=column("pl-roomy", "pl-wide", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:node", args=[record.pk])}
        order_by = "name"


class NodeFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name, cluster or label"), widget=search_box())
    zone = django_filters.ModelChoiceFilter(
        field_name="cluster__zone", queryset=zones_by_name, label=_("Zone"), empty_label=_("Any zone")
    )
    status = django_filters.ChoiceFilter(
        method="by_status", choices=NodeStatus.choices, label=_("State"), empty_label=_("Any state")
    )

    class Meta:
        model = Node
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Node], name: str, value: str) -> QuerySet[Node]:
        labelled = Q(labels__has_key=value)
        return rows.filter(Q(name__icontains=value) | Q(cluster__name__icontains=value) | labelled)

    def by_status(self, rows: QuerySet[Node], name: str, value: str) -> QuerySet[Node]:
        if value == NodeStatus.LOST:
            return rows.filter(lost_at__isnull=False)
        rows = rows.filter(lost_at__isnull=True)
        if value == NodeStatus.STALE:
            return rows.filter(silent())
        rows = rows.filter(~silent())
        if value == NodeStatus.QUARANTINED:
            return rows.filter(status=NodeStatus.READY).exclude(quarantine="")
        return rows.filter(status=value, quarantine="") if value == NodeStatus.READY else rows.filter(status=value)
