"""The list of an organisation's members."""

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.console.kit.levels import LevelTable


def member_page(record: Any) -> str:
    return reverse("console:organisation_member", args=[record.organisation_id, record.user_id])


class MemberTable(LevelTable):
    caption = _("Members")
    user = Cell(
        template_name="console/cells/organisation_member.html",
        verbose_name=_("Person"),
        order_by=("user__username",),
        attrs=column(width=FULL),
    )
    role = Cell(
        "{% if record.own_role %}{{ record.own_role.name }}{% else %}{{ record.get_role_display }}{% endif %}",
        verbose_name=_("Role"),
        order_by=("role",),
        attrs=column(fold=_("Role")),
    )
    priority = tables.Column(verbose_name=_("Priority"), attrs=column(fold=_("Priority"), numeric=True))
    department = tables.Column(verbose_name=_("Department"), order_by=("department__name",), attrs=column("pl-wide"))
    active = Cell(
        template_name="console/cells/account_state.html",
        verbose_name=_("Account"),
        orderable=False,
        attrs=column(fold=_("Account")),
    )
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Member since"),
        attrs=column("pl-wide", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": member_page}
        sequence = ("user", "role", "priority", "department", "cpu", "gpu", "storage", "active", "created_at")
        order_by = "user"

    def key(self, record: Any) -> Any:
        return record.user_id
