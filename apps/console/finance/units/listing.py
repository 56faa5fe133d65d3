"""The price list, and the versions of one of its prices."""

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.console.finance.price_versions import PriceTable


class UnitTable(Table):
    caption = _("Price list")
    unit = Cell(
        '{% load units %}<a class="pl-name" href="{% url "console:unit" record.shown.pk %}">'
        "{{ record.unit|unit_words }}</a>",
        verbose_name=_("Unit"),
        orderable=False,
        attrs=column("o-1", width="c-4"),
    )
    per = Cell(
        "{% load units %}{{ record.unit|per_words }}",
        verbose_name=pgettext_lazy("price", "Each"),
        orderable=False,
        attrs=column(width=FULL),
    )
    rate = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.now.rate_fen_per_hour|rate_amount }}</span>",
        verbose_name="¥/h",
        orderable=False,
        attrs=column(fold="¥/h", numeric=True),
    )
    version = Cell(
        "{% load pl %}{% if record.now %}v{% endif %}{{ record.now.number|dash }}",
        verbose_name=_("Version"),
        orderable=False,
        attrs=column("pl-roomy", fold=_("Version"), numeric=True),
    )
    planned = Cell(
        template_name="console/cells/unit_planned.html",
        verbose_name=_("Planned"),
        orderable=False,
        attrs=column(fold=_("Planned")),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:unit", args=[record.shown.pk])}


class UnitPriceTable(PriceTable):
    caption = _("Prices of the unit")
