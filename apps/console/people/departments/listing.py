"""The list of an organisation's departments: the whole tree, each with its path."""

from typing import Any
from uuid import UUID

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.common.tables import FULL, Table, column
from apps.console.kit.levels import LevelTable


class TreeTable(LevelTable):
    """`paths` of the page's departments by id: `Research / Vision`."""

    caption = _("Departments")
    name = tables.Column(verbose_name=_("Department"), attrs=column(width=FULL))
    people = tables.Column(verbose_name=_("Members"), attrs=column(fold=_("Members"), numeric=True))
    weight = tables.Column(verbose_name=_("Weight in the queue"), attrs=column("pl-wide", numeric=True))

    class Meta(Table.Meta):
        sequence = ("name", "people", "cpu", "gpu", "storage", "weight")
        order_by = "name"

    paths: dict[UUID, str]

    def render_name(self, record: Any) -> str:
        return self.paths.get(record.pk, str(record.name))
