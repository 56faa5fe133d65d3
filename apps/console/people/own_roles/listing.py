"""The list of an organisation's own roles."""

from typing import Any

from django.urls import reverse

from apps.console.kit.role_table import RoleTable


class OwnRoleTable(RoleTable):
    def page_of(self, record: Any) -> str:
        return reverse("console:organisation_role", args=[record.organisation_id, record.pk])
