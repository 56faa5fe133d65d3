"""The list of the organisation's own roles."""

from typing import Any

from django.urls import reverse

from apps.console.kit import role_table


class RoleTable(role_table.RoleTable):
    def page_of(self, record: Any) -> str:
        return reverse("organisation:role", args=[record.pk])
