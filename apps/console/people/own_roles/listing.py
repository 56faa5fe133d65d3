"""The list of an organisation's own roles."""

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


def role_page(record: Any) -> str:
    return reverse("console:organisation_role", args=[record.organisation_id, record.pk])


class OwnRoleTable(Table):
    caption = _("Roles")
    name = tables.Column(
        verbose_name=_("Name"), linkify=role_page, attrs={**column(width=FULL), "a": {"class": "pl-name"}}
    )
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
        row_attrs = {"data-href": role_page}
        order_by = "name"
