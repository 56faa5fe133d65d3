"""The list of roles that somebody has made, the platform's or an organisation's; a subclass says where each one is."""

from typing import Any

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


def _page(record: Any, table: "RoleTable") -> str:
    return table.page_of(record)


class RoleTable(Table):
    caption = _("Roles")
    name = tables.Column(verbose_name=_("Name"), linkify=_page, attrs={**column(width=FULL), "a": {"class": "pl-name"}})
    allows = Cell(
        "{{ record.permissions|length }}",
        verbose_name=_("Permissions"),
        orderable=False,
        empty_values=(),
        attrs=column(fold=_("Permissions"), numeric=True),
    )
    used_by = tables.Column(verbose_name=_("Members"), attrs=column(fold=_("Members"), numeric=True))
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}", verbose_name=_("Created"), attrs=column("pl-wide", numeric=True)
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": _page}
        order_by = "name"

    def page_of(self, record: Any) -> str:
        raise NotImplementedError
