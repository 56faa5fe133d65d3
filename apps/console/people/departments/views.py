"""The departments of one organisation, which its own administrators make and limit."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.common.access import on_platform, requires
from apps.common.pages import paged
from apps.common.permissions import Permission as P
from apps.console.kit.levels import books_of_departments
from apps.console.kit.requests import StaffRequest
from apps.console.people.departments.listing import TreeTable
from apps.console.people.organisations import selectors as reads
from apps.console.people.organisations.views import frame
from apps.tenants import tree


@requires(on_platform(P.PLATFORM_TENANTS_VIEW))
@require_GET
def department_list(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    organisation = reads.get(request.actor, organisation_id)
    table = TreeTable(reads.departments(request.actor, organisation_id))
    paged(request, table)
    ids = [row.record.pk for row in table.page.object_list]
    table.books, table.paths = books_of_departments(ids), tree.paths(ids)
    context = {**frame(request.actor, organisation, "departments"), "table": table}
    return render(request, "console/organisations/departments.html", context)
