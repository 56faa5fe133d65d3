"""The list of platform roles."""

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.tables import column
from apps.console.kit.role_table import RoleTable


class PlatformRoleTable(RoleTable):
    caption = _("Roles that were defined here")
    used_by = tables.Column(verbose_name=_("People"), attrs=column(fold=_("People"), numeric=True))

    class Meta(RoleTable.Meta):
        exclude = ("created_at",)

    def page_of(self, record: Any) -> str:
        return reverse("console:role", args=[record.pk])
