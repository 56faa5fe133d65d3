"""The list of platform roles."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


class PlatformRoleTable(Table):
    caption = _("Roles that were defined here")
    name = Cell(
        '<a class="pl-name" href="{% url "console:role" record.pk %}">{{ record.name }}</a>',
        verbose_name=_("Name"),
        attrs=column(width=FULL),
    )
    allows = Cell(
        "{{ record.permissions|length }}",
        verbose_name=_("Permissions"),
        orderable=False,
        empty_values=(),
        attrs=column(fold=_("Permissions"), numeric=True),
    )
    used_by = tables.Column(verbose_name=_("People"), attrs=column(fold=_("People"), numeric=True))

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:role", args=[record.pk])}
        order_by = "name"
