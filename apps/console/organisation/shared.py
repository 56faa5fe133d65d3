"""What the organisation's pages share."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.common.pages import paged
from apps.common.tables import Table
from apps.tenants import tree


class WithPaths(Table):
    """Rows with a department show its path, read once for the page that is shown."""

    paths: dict[UUID, str]


def with_paths(request: HttpRequest, table: WithPaths) -> Table:
    """The page of the table that is shown, with the paths of its departments: one query for all of them."""
    paged(request, table)
    table.paths = tree.paths(row.record.department_id for row in table.page.object_list)
    return table


def people_tabs(current: str) -> list[dict[str, Any]]:
    names = {"organisation:members": _("Members"), "organisation:member_invitations": _("Invitations")}
    return [
        {"label": label, "url": reverse(name), "current": name == f"organisation:{current}"}
        for name, label in names.items()
    ]
