"""The queue in the order of turns, and who gave way."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


class QueueTable(Table):
    caption = _("Waiting workloads, in the order of turns")
    position = tables.Column(
        accessor="report__position", verbose_name="#", default="—", attrs=column("pl-mute", fold="#", numeric=True)
    )
    name = Cell(
        template_name="console/cells/queue_name.html",
        verbose_name=_("Workload and organisation"),
        attrs=column(width=FULL),
    )
    wants = Cell(
        "{% load queue %}{{ record.gpu|request_words }}",
        verbose_name=_("Asks for"),
        empty_values=(),
        attrs=column("pl-nowrap", fold=_("Asks for"), width=FULL),
    )
    priority = tables.Column(
        accessor="workload__priority", verbose_name=_("Priority"), attrs=column(fold=_("Priority"), numeric=True)
    )
    queued_at = Cell(
        "{% load pl %}{% since record.workload.queued_at %}",
        verbose_name=_("Waiting for"),
        empty_values=(),
        attrs=column("pl-nowrap", fold=_("Waiting for"), numeric=True),
    )
    why = Cell("{{ record.report.title }}", verbose_name=_("Why"), empty_values=(), attrs=column(width=FULL))
    start = Cell(
        template_name="console/cells/queue_start.html",
        verbose_name=_("Estimated start (p50–p90)"),
        empty_values=(),
        attrs=column("pl-nowrap", fold=_("Estimated start"), numeric=True),
    )

    class Meta(Table.Meta):
        orderable = False
        row_attrs = {"data-href": lambda record: reverse("console:workload", args=[record.workload.pk])}


class PreemptionTable(Table):
    caption = _("Who had to give way to whom")
    asked_at = Cell(
        "{% load pl %}{% when record.row.asked_at %}",
        verbose_name=pgettext_lazy("to give way", "Asked"),
        empty_values=(),
        attrs=column(fold=pgettext_lazy("to give way", "Asked")),
    )
    victim = Cell(template_name="console/cells/queue_victim.html", verbose_name=_("Gave way"), attrs=column(width=FULL))
    gainer = Cell(
        template_name="console/cells/queue_gainer.html",
        verbose_name=pgettext_lazy("pre-emption", "To"),
        empty_values=(),
        attrs=column(width=FULL),
    )
    why = Cell(
        "{{ record.row.get_why_display }}", verbose_name=_("By what right"), empty_values=(), attrs=column(width=FULL)
    )
    outcome = Cell(
        template_name="console/cells/queue_outcome.html",
        verbose_name=_("Outcome"),
        empty_values=(),
        attrs=column(width=FULL),
    )
    lost = Cell(
        "{% load queue %}{{ record.row.lost_s|waited }}",
        verbose_name=_("Lost work"),
        empty_values=(),
        attrs=column("pl-nowrap", fold=_("Lost work"), numeric=True),
    )
    credited = Cell(
        "{% load pl %}{{ record.row.credited_fen|yuan }}",
        verbose_name=pgettext_lazy("lost work", "Credited"),
        empty_values=(),
        attrs=column(fold=pgettext_lazy("lost work", "Credited"), numeric=True),
    )

    class Meta(Table.Meta):
        orderable = False
