"""The list of what holds a quota."""

from typing import Any
from uuid import UUID

import django_tables2 as tables
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.tenants.choices import Resource
from apps.tenants.quotas import amount_text


class HoldingTable(Table):
    """What holds one resource. `names` of the page's objects by id."""

    caption = _("Holders")
    names: dict[UUID, Any]

    what = tables.Column(verbose_name=_("Object"), orderable=False, empty_values=(), attrs=column(width=FULL))
    user = Cell(
        template_name="console/cells/member.html",
        verbose_name=_("Person"),
        orderable=False,
        attrs=column(fold=_("Person")),
    )
    amount = tables.Column(verbose_name=_("Holds"), attrs=column(fold=_("Holds"), numeric=True))
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Since"),
        attrs=column(fold=_("Since"), numeric=True),
    )

    class Meta(Table.Meta):
        sequence = ("what", "user", "amount", "created_at")

    def __init__(self, *args: Any, resource: Resource, **kwargs: Any) -> None:
        self.resource = resource
        self.names = {}
        super().__init__(*args, **kwargs)

    def render_amount(self, value: int) -> str:
        return amount_text(self.resource, value)

    def render_what(self, record: Any) -> str:
        """The name where the object still has one, else what kind of object it is."""
        context = {"record": record, "named": self.names.get(record.holder_id)}
        return render_to_string("organisation/cells/holder.html", context)
