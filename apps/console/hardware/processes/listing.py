"""The platform's processes and their replacements: rows of `selectors.processes`."""

from typing import Any

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column

# `process_name` is a filter of the console.
NAME = (
    "{% load processes %}<strong>{{ record.kind|process_name }}</strong>"
    '{% if record.instance %}<span class="pl-sub">{{ record.instance }}</span>{% endif %}'
)


class ProcessTable(Table):
    caption = _("Processes")
    kind = Cell(NAME, verbose_name=_("Process"), attrs=column("o-1", width="c-4"))
    beat_at = Cell(
        template_name="console/cells/process_state.html",
        verbose_name=_("Last active"),
        attrs=column("pl-inline", width=FULL),
        empty_values=(),
    )
    started_at = Cell(
        "{% load pl %}{% when value %}",
        verbose_name=pgettext_lazy("process", "Since"),
        attrs=column(fold=pgettext_lazy("process", "Since")),
    )
    pid = tables.Column(verbose_name=_("Process id"), attrs=column("pl-roomy", fold=_("Process id"), numeric=True))

    class Meta(Table.Meta):
        orderable = False


class ReplacementTable(Table):
    caption = _("Replaced")
    at = Cell("{% load pl %}{% when value seconds=True %}", verbose_name=_("When"), attrs=column("o-1", width="c-4"))
    kind = Cell(NAME, verbose_name=_("Process"), attrs=column("pl-inline", width=FULL))
    silent_s = Cell(
        "{% load pl %}{% since value ticking=False %}",
        verbose_name=_("Stalled for"),
        attrs=column(fold=_("Stalled for"), numeric=True),
    )

    class Meta(Table.Meta):
        orderable = False
        empty_text: Any = _("Nothing had to be replaced.")
