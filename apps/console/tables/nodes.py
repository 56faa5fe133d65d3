"""The list of nodes: rows of `selectors.nodes.nodes`."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


def _shared(template: str) -> str:
    """A cell that the node's own page shows too."""
    return (
        "{% load hardware %}{% with record=record|node_row %}"
        f'{{% include "console/cells/{template}.html" %}}'
        "{% endwith %}"
    )


class NodeTable(Table):
    caption = _("Nodes")
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
        "{% load pl %}{{ record.disk_free_mib|memory }}",
        verbose_name=_("Disk free"),
        attrs=column("pl-roomy", "pl-wide", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:node", args=[record.pk])}
        order_by = "name"
