"""The list of nodes; its rows are `selectors.nodes.NodeRow`, a few hundred at most."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.tables import FULL, Table, column
from apps.console.tables.cells import Cell


class NodeTable(Table):
    caption = _("Nodes")
    name = Cell(
        template_name="console/cells/node_name.html",
        verbose_name=_("Name and place"),
        order_by=("node__name",),
        attrs=column("o-1", width="c-4"),
    )
    status = Cell(
        template_name="console/cells/node_status.html", verbose_name=_("State"), attrs=column("pl-inline", width=FULL)
    )
    isolation = Cell(
        "{% load pl workloads %}"
        "{% tag record.node.isolation 'shield-lock' title=record.node.isolation_reason|driver_words %}",
        verbose_name=_("Isolation"),
        order_by=("node__isolation",),
        attrs=column(fold=_("Isolation")),
    )
    runs = tables.Column(
        accessor="held__runs", verbose_name=_("Running"), attrs=column(fold=_("Running"), numeric=True)
    )
    cpu = Cell(
        template_name="console/cells/node_cpu.html",
        verbose_name=_("CPU given out"),
        order_by=("held__cpu_milli",),
        attrs=column(fold=_("CPU"), width=FULL),
    )
    memory = Cell(
        template_name="console/cells/node_memory.html",
        verbose_name=_("Memory given out"),
        order_by=("held__memory_mib",),
        attrs=column(fold=_("Memory"), width=FULL),
    )
    cards = Cell(
        template_name="console/cells/node_cards.html",
        verbose_name=_("Cards"),
        attrs=column(fold=_("Cards"), numeric=True),
    )
    disk = Cell(
        "{% load pl %}{{ record.node.disk_free_mib|memory }}",
        verbose_name=_("Disk free"),
        order_by=("node__disk_free_mib",),
        attrs=column("pl-roomy", "pl-wide", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:node", args=[record.node.pk])}
        order_by = "name"
