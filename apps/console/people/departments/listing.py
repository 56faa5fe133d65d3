"""The list of an organisation's departments: the whole tree, each with its path."""

from typing import Any
from uuid import UUID

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.tables import FULL, Table, column
from apps.console.kit.levels import LevelTable


def department_page(record: Any) -> str:
    return reverse("console:organisation_department", args=[record.organisation_id, record.pk])


class TreeTable(LevelTable):
    """`paths` of the page's departments by id: `Research / Vision`."""

    caption = _("Departments")
    name = tables.Column(
        verbose_name=_("Department"), linkify=department_page, attrs={**column(width=FULL), "a": {"class": "pl-name"}}
    )
    people = tables.Column(verbose_name=_("Members"), attrs=column(fold=_("Members"), numeric=True))
    weight = tables.Column(verbose_name=_("Weight in the queue"), attrs=column("pl-wide", numeric=True))

    class Meta(Table.Meta):
        row_attrs = {"data-href": department_page}
        sequence = ("name", "people", "cpu", "gpu", "storage", "weight")
        order_by = "name"

    paths: dict[UUID, str]

    def render_name(self, record: Any) -> str:
        return self.paths.get(record.pk, str(record.name))
