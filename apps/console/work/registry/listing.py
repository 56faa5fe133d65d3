"""Lists of the registry: its collections, and who keeps how much."""

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


class CollectionTable(Table):
    caption = _("Collections")
    asked_at = Cell("{% load pl %}{% when value %}", verbose_name=_("When"), attrs=column("o-1", width="c-4"))
    state = Cell(
        template_name="console/cells/collection_state.html",
        verbose_name=pgettext_lazy("collection", "Outcome"),
        empty_values=(),
        attrs=column("pl-inline", width=FULL),
    )
    freed = Cell(
        "{% if record.ended_at %}{{ value|filesizeformat }}{% endif %}",
        verbose_name=_("Freed"),
        attrs=column(fold=_("Freed"), numeric=True),
    )
    blobs = tables.Column(verbose_name=_("Layers"), attrs=column("pl-roomy", fold=_("Layers"), numeric=True))
    away_ms = Cell(
        "{% if record.away_ms %}{{ record.away_s|floatformat:1 }} s{% endif %}",
        verbose_name=_("Away for"),
        attrs=column("pl-roomy", fold=_("Away for"), numeric=True),
    )
    asked_by = Cell(
        template_name="console/cells/collection_by.html",
        verbose_name=_("Asked by"),
        empty_values=(),
        attrs=column(fold=_("Asked by")),
    )

    class Meta(Table.Meta):
        orderable = False


class CapacityTable(Table):
    caption = _("Organisations")
    organisation = Cell(
        '<a class="pl-name" href="{% url "console:organisation_quotas" record.organisation.pk %}">'
        "{{ record.organisation.name }}</a>",
        verbose_name=_("Organisation"),
        attrs=column(width=FULL),
    )
    used = Cell("{{ value|filesizeformat }}", verbose_name=_("Used"), attrs=column(fold=_("Used"), numeric=True))
    limit = Cell(
        template_name="console/cells/registry_capacity.html",
        verbose_name=_("Capacity"),
        attrs=column(fold=_("Capacity"), numeric=True),
    )

    class Meta(Table.Meta):
        orderable = False
